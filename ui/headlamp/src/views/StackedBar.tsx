import Box from '@mui/material/Box';
import { Theme } from '@mui/material/styles';
import { Cause, Pod } from '../findings/answer';
import { added, times } from '../findings/format';
import { Kind, kindOf, kinds, kindsIn } from '../findings/kinds';
import { causeName } from '../findings/words';

/** paint returns the style of what has the colour of a kind. */
export function paint(kind: Kind) {
  return kind.striped
    ? { background: `repeating-linear-gradient(45deg, ${kind.colour} 0 4px, transparent 4px 7px)` }
    : { backgroundColor: kind.colour };
}

/** The part of a bar that is the time of the pod alone. */
const alone = (theme: Theme) => ({ backgroundColor: theme.palette.action.disabled });

/** The smallest part that is drawn on its own, in percent of the scale. */
const smallest = 0.1;

/**
 * StackedBar shows the dilation of a pod: its time alone, and what each cause adds. Bars with the same
 * scale, the dilation that the whole width stands for, can be compared. Screen readers read its label;
 * all numbers are in the table beside it.
 */
export function StackedBar({ pod, scale }: { pod: Pod; scale: number }) {
  const ordered = kinds.flatMap(kind => pod.causes.filter(c => kindOf(c) === kind));
  const width = (dilation: number) => (100 * dilation) / Math.max(scale, pod.dilation, 1);
  return (
    <Box
      role="img"
      aria-label={`${times(pod.dilation)} as long as alone`}
      sx={{ display: 'flex', height: 14, width: '100%', minWidth: 120 }}
    >
      <Box
        title="alone: 1.00×"
        sx={[alone, { width: `${width(1)}%`, borderRadius: '2px 0 0 2px' }]}
      />
      {ordered
        .filter(c => width(c.dilation) >= smallest)
        .map((c, i) => (
          <Box
            key={i}
            title={`${causeName(c)} ${added(c.dilation)}`}
            data-kind={kindOf(c).id}
            sx={[
              paint(kindOf(c)),
              theme => ({
                width: `${width(c.dilation)}%`,
                borderLeft: `1px solid ${theme.palette.background.paper}`,
                boxSizing: 'border-box',
              }),
            ]}
          />
        ))}
    </Box>
  );
}

/** Swatch is a square of the colour of a kind. */
export function Swatch({ kind }: { kind: Kind | undefined }) {
  return (
    <Box
      component="span"
      aria-hidden
      sx={[
        {
          display: 'inline-block',
          width: 12,
          height: 12,
          mr: 0.75,
          borderRadius: '2px',
          flex: 'none',
        },
        kind ? paint(kind) : alone,
      ]}
    />
  );
}

/** Legend says what the colours of bars stand for: those that are in them. */
export function Legend({ causes }: { causes: Cause[] }) {
  const entries: [string, Kind | undefined][] = [
    ['alone', undefined],
    ...kindsIn(causes).map((kind): [string, Kind] => [kind.label, kind]),
  ];
  return (
    <Box
      component="ul"
      aria-label="Colours of the bars"
      sx={{
        display: 'flex',
        flexWrap: 'wrap',
        gap: 0.5,
        columnGap: 2,
        m: 0,
        mb: 1,
        p: 0,
        listStyle: 'none',
      }}
    >
      {entries.map(([label, kind]) => (
        <Box
          component="li"
          key={label}
          sx={{ display: 'flex', alignItems: 'center', fontSize: '0.85rem' }}
        >
          <Swatch kind={kind} />
          {label}
        </Box>
      ))}
    </Box>
  );
}
