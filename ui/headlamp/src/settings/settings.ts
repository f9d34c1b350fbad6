/** Settings say where Loadline is in a cluster. They are the same for all clusters. */
export interface Settings {
  /** The namespace of Loadline. */
  namespace: string;
  /** The service of its page. */
  service: string;
  /** The service account, in that namespace, whose token the page is asked with. */
  serviceAccount: string;
}

/** defaults are those of an installation that has no other names. */
export const defaults: Settings = {
  namespace: 'loadline-system',
  service: 'loadline-ui',
  serviceAccount: 'loadline-viewer',
};

/** A name that a namespace or a service may have, and one that a service account may have. */
const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const subdomain = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** problem says what is wrong with a setting, undefined if nothing is. Empty stands for the default. */
export function problem(name: keyof Settings, value: string): string | undefined {
  const valid = name === 'serviceAccount' ? subdomain : label;
  return value === '' || valid.test(value)
    ? undefined
    : 'A name has lower-case letters, digits and hyphens, and begins and ends with a letter or digit.';
}

/**
 * settingsFrom returns the settings that were stored: what is absent or no valid name is as in the
 * defaults. The names become part of paths, so no others may pass.
 */
export function settingsFrom(stored: unknown): Settings {
  const values = (typeof stored === 'object' && stored !== null ? stored : {}) as Record<
    string,
    unknown
  >;
  const of = (name: keyof Settings) => {
    const value = values[name];
    return typeof value === 'string' && value !== '' && problem(name, value) === undefined
      ? value
      : defaults[name];
  };
  return {
    namespace: of('namespace'),
    service: of('service'),
    serviceAccount: of('serviceAccount'),
  };
}
