import { SectionBox } from '@kinvolk/headlamp-plugin/lib/CommonComponents';
import Typography from '@mui/material/Typography';
import { Poller } from '../client/poller';
import { Answer } from '../findings/answer';
import { notes, verdict } from '../findings/verdict';
import { Live } from './Live';
import { Nodes } from './Nodes';
import { PlanSteps } from './PlanSteps';
import { Victims } from './Victims';

/** LoadlinePage shows a cluster: a verdict, the plan, the pods that are slowed down, and the nodes. */
export function LoadlinePage({ poller }: { poller: Poller }) {
  return (
    <SectionBox title="Loadline" headerProps={{ headerStyle: 'main' }}>
      <Live poller={poller}>{answer => <Cluster answer={answer} />}</Live>
    </SectionBox>
  );
}

function Cluster({ answer }: { answer: Answer }) {
  return (
    <>
      <Typography variant="h5" component="p">
        {verdict(answer)}
      </Typography>
      {notes(answer).map((note, i) => (
        <Typography key={i} variant="body2" color="text.secondary">
          {note}
        </Typography>
      ))}
      {answer.plan.excess > 0 && (
        <>
          <Heading>The plan</Heading>
          <PlanSteps answer={answer} />
        </>
      )}
      {answer.findings.length > 0 && (
        <>
          <Heading>Pods that are slowed down</Heading>
          <Victims findings={answer.findings} />
        </>
      )}
      <Heading>Nodes</Heading>
      <Nodes nodes={answer.nodes} />
    </>
  );
}

function Heading({ children }: { children: string }) {
  return (
    <Typography variant="h6" component="h2" sx={{ mt: 3, mb: 1 }}>
      {children}
    </Typography>
  );
}
