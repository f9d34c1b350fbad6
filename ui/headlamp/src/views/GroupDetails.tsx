import Typography from '@mui/material/Typography';
import { Answer, Node } from '../findings/answer';
import { counted, decimal, percent, times } from '../findings/format';
import { Group, nodeNamed, ofNode, ofWorkload } from '../findings/select';
import { remark } from '../findings/verdict';
import { Victims } from './Victims';

interface WorkloadProps {
  answer: Answer;
  kind: string;
  namespace: string;
  name: string;
}

/** WorkloadDetails shows what an answer says of the pods of a workload. */
export function WorkloadDetails({ answer, kind, namespace, name }: WorkloadProps) {
  const group = ofWorkload(answer, kind, namespace, name);
  if (group.pods.length === 0) {
    return (
      <Typography>
        Nothing is observed of the pods of this workload. They may not run, have started less than
        half a minute ago, or be ones whose findings you may not see.
      </Typography>
    );
  }
  return <SlowedOf group={group} above={answer.above} />;
}

/** NodeDetails shows how busy a node is, and which pods on it are slowed down. */
export function NodeDetails({ answer, name }: { answer: Answer; name: string }) {
  const node = nodeNamed(answer, name);
  if (!node || node.problem) {
    return (
      <Typography>
        Nothing is observed of this node{node?.problem ? `: ${node.problem}.` : '.'}{' '}
        {!node && 'It may be new, or one that you may not see.'}
      </Typography>
    );
  }
  return (
    <>
      <Typography>{busyText(node)}</Typography>
      {remark(node) !== '' && (
        <Typography variant="body2" color="text.secondary">
          {remark(node)}
        </Typography>
      )}
      <SlowedOf group={ofNode(answer, name)} above={answer.above} />
    </>
  );
}

/** busyText says how busy a node is. */
export function busyText(n: Node): string {
  const stolen = n.stolen > 0 ? `, ${percent(n.stolen)} taken by the hypervisor` : '';
  return (
    `${percent(n.busy)} of ${counted(n.cpus, 'processor')} busy, ${percent(n.podsBusy)} by pods` +
    `${stolen}; observed ${decimal(n.ageSeconds, 0)}s ago.`
  );
}

function SlowedOf({ group, above }: { group: Group; above: number }) {
  const { findings, pods } = group;
  const of = counted(pods.length, 'observed pod');
  if (findings.length === 0) {
    return (
      <Typography>
        {pods.length === 0
          ? 'No pod is observed on it.'
          : `None of ${of} is slowed down ${times(above)} or more.`}
      </Typography>
    );
  }
  return (
    <>
      <Typography sx={{ mb: 1 }}>
        Slowed down {times(above)} or more: {decimal(findings.length, 0)} of {of}.
      </Typography>
      <Victims findings={findings} />
    </>
  );
}
