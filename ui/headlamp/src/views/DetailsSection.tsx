import { SectionBox } from '@kinvolk/headlamp-plugin/lib/CommonComponents';
import { ReactNode } from 'react';
import { Poller } from '../client/poller';
import { Answer } from '../findings/answer';
import { NodeDetails, WorkloadDetails } from './GroupDetails';
import { Live } from './Live';
import { PodDetails } from './PodDetails';

/** Resource is an object of Kubernetes, as far as a section about it needs it. */
export interface Resource {
  kind: string;
  metadata: { name: string; namespace?: string };
  spec?: { nodeName?: string };
}

const workloads = ['Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob'];

/** hasSection reports whether objects of a kind have a section. */
export function hasSection(kind: string): boolean {
  return kind === 'Pod' || kind === 'Node' || workloads.includes(kind);
}

/** DetailsSection shows in the view of a pod, a workload or a node what Loadline says of it. */
export function DetailsSection({ resource, poller }: { resource: Resource; poller: Poller }) {
  return (
    <SectionBox title="Slowed down by others">
      <Live poller={poller}>{answer => details(resource, answer)}</Live>
    </SectionBox>
  );
}

function details(resource: Resource, answer: Answer): ReactNode {
  const { kind } = resource;
  const { name, namespace = '' } = resource.metadata;
  switch (kind) {
    case 'Pod':
      return (
        <PodDetails answer={answer} name={`${namespace}/${name}`} node={resource.spec?.nodeName} />
      );
    case 'Node':
      return <NodeDetails answer={answer} name={name} />;
    default:
      return <WorkloadDetails answer={answer} kind={kind} namespace={namespace} name={name} />;
  }
}
