import { Link } from '@kinvolk/headlamp-plugin/lib/CommonComponents';

/** The name of a pod with its namespace; what Loadline writes for hidden names is none. */
const qualified = /^([a-z0-9][-a-z0-9]*)\/([a-z0-9][-.a-z0-9]*)$/;

/** PodName is the name of a pod, and leads to it; other words stay words. */
export function PodName({ name }: { name: string }) {
  const [, namespace, pod] = qualified.exec(name) ?? [];
  if (!namespace || !pod) {
    return <>{name}</>;
  }
  return (
    <Link routeName="pod" params={{ namespace, name: pod }}>
      {name}
    </Link>
  );
}

/** NodeName is the name of a node, and leads to it. */
export function NodeName({ name }: { name: string }) {
  if (!/^[a-z0-9][-.a-z0-9]*$/.test(name)) {
    return <>{name}</>;
  }
  return (
    <Link routeName="node" params={{ name }}>
      {name}
    </Link>
  );
}
