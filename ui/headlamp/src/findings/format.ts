/**
 * How numbers are written: as the terminal writes them (package pkg/text in Go), so that who compares the
 * two finds the same digits.
 */

/** decimal writes a finite number with that many decimals, and commas between the thousands. */
export function decimal(x: number, decimals: number): string {
  const rounded = toFixed(x, decimals);
  const [whole = '', fraction] = rounded.replace(/^-(?=[0.]*$)/, '').split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/**
 * toFixed rounds to even where a number is exactly between two texts, as Go does: 0.125 is 0.12. Such a
 * number is an odd multiple of a power of 2, to which multiplication is exact.
 */
function toFixed(x: number, decimals: number): string {
  const scaled = x * 2 ** (decimals + 1);
  if (!Number.isInteger(scaled) || scaled % 2 === 0) {
    return x.toFixed(decimals);
  }
  const twice = Math.abs(scaled) * 5 ** decimals; // 2 · 10^decimals · |x|, an odd number
  const below = (twice - 1) / 2;
  const even = below % 2 === 0 ? below : below + 1;
  return (Math.sign(x) * (even / 10 ** decimals)).toFixed(decimals);
}

/** times writes a dilation: 1.18 is "1.18×". */
export function times(factor: number): string {
  return `${decimal(factor, 2)}×`;
}

/** within writes a dilation with the half width of its interval: "1.42 ± 0.05". */
export function within(factor: number, halfWidth: number): string {
  return `${decimal(factor, 2)} ± ${toFixed(halfWidth, 2)}`;
}

/** added writes what is added to a dilation: 2.84 is "+2.84". */
export function added(part: number): string {
  return `+${decimal(part, 2)}`;
}

/** amount writes an excess, or a part of one. */
export function amount(excess: number): string {
  return decimal(excess, 2);
}

/**
 * percent writes a fraction: 0.95 is "95.0%". One decimal, and as many more (four at most) as it takes not
 * to round less than everything up to 100%, or more than nothing down to 0%.
 */
export function percent(fraction: number): string {
  const most = 4;
  const percents = 100 * fraction;
  for (let decimals = 1; decimals <= most; decimals++) {
    const unit = 10 ** decimals;
    const rounded = Math.round(percents * unit) / unit;
    if (!(rounded === 100 && fraction < 1) && !(rounded === 0 && fraction !== 0)) {
      return `${decimal(percents, decimals)}%`;
    }
  }
  const unit = 10 ** -most;
  return `${decimal(percents > unit ? 100 - unit : Math.sign(percents) * unit, most)}%`;
}

/** counted writes how many there are of something, named in the singular: "1 job", "1,204 jobs". */
export function counted(n: number, of: string): string {
  return `${decimal(n, 0)} ${n === 1 ? of : `${of}s`}`;
}

/** names lists the first five names, and says how many more there are. */
export function names(all: string[]): string {
  const shown = 5;
  const more = all.length - shown;
  return more > 0 ? `${all.slice(0, shown).join(', ')} and ${more} more` : all.join(', ');
}

/** duration writes seconds as kubectl does: "90s", "5m30s", "3h12m", "2d". */
export function duration(seconds: number): string {
  const s = Math.floor(seconds);
  const m = Math.floor(s / 60);
  const h = Math.floor(m / 60);
  const d = Math.floor(h / 24);
  const both = (a: number, unit: string, b: number, smaller: string) =>
    b === 0 ? `${a}${unit}` : `${a}${unit}${b}${smaller}`;
  if (s < 120) {
    return `${s}s`;
  }
  if (m < 10) {
    return both(m, 'm', s % 60, 's');
  }
  if (m < 180) {
    return `${m}m`;
  }
  if (h < 8) {
    return both(h, 'h', m % 60, 'm');
  }
  if (h < 48) {
    return `${h}h`;
  }
  if (d < 8) {
    return both(d, 'd', h % 24, 'h');
  }
  if (d < 2 * 365) {
    return `${d}d`;
  }
  const y = Math.floor(d / 365);
  return d < 8 * 365 ? both(y, 'y', d % 365, 'd') : `${y}y`;
}

const words = [
  ['no', 'one', 'two', 'three', 'four', 'five', 'six'],
  ['seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'],
].flat();

/** inWords writes a small number as a word, others in digits. */
export function inWords(n: number): string {
  return words[n] ?? decimal(n, 0);
}

/** sentence begins a text with a capital. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
