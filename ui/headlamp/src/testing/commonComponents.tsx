import { ReactNode } from 'react';

/** What the plugin uses of Headlamp's components, without Headlamp: vi.mock puts it in their place. */

export function SectionBox({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

interface LinkProps {
  routeName: string;
  params: Record<string, string>;
  children: ReactNode;
}

export function Link({ routeName, params, children }: LinkProps) {
  return <a href={`/${[routeName, ...Object.values(params)].join('/')}`}>{children}</a>;
}
