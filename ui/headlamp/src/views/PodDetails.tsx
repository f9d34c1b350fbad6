import Box from '@mui/material/Box';
import Typography from '@mui/material/Typography';
import { Answer, Finding, Pod } from '../findings/answer';
import { decimal, duration, times, within } from '../findings/format';
import { judge } from '../findings/select';
import { remedyText, thenText } from '../findings/words';
import { CauseTable } from './CauseTable';
import { StackedBar } from './StackedBar';

/** PodDetails shows what an answer says of a pod, given as namespace/name, and its node if it has one. */
export function PodDetails({
  answer,
  name,
  node,
}: {
  answer: Answer;
  name: string;
  node?: string;
}) {
  const j = judge(answer, name, node);
  switch (j.is) {
    case 'slowed':
      return <Slowed finding={j.finding} />;
    case 'well':
      return (
        <>
          <Typography>
            Not slowed down: {within(j.pod.dilation, j.pod.dilationError)} times as long as alone.
            From {times(answer.above)} on a pod counts as slowed down.
          </Typography>
          {j.pod.causes.length > 0 && <Causes pod={j.pod} />}
        </>
      );
    case 'unsure':
      return (
        <>
          <Typography>
            Too unsteady to judge: {within(j.pod.dilation, j.pod.dilationError)} times as long as
            alone, which differs too much between intervals.
          </Typography>
          {j.pod.causes.length > 0 && <Causes pod={j.pod} />}
        </>
      );
    case 'short':
      return (
        <Typography>
          Observed too shortly to judge: for {duration(j.pod.seconds)}. Look again in a minute.
        </Typography>
      );
    case 'unobserved':
      return (
        <Typography>
          {j.why
            ? `Nothing is observed of this pod: ${j.why}.`
            : 'Nothing is observed of this pod. It may have started less than half a minute ago, have ended, ' +
              'or be one whose findings you may not see.'}
        </Typography>
      );
  }
}

function Slowed({ finding: f }: { finding: Finding }) {
  return (
    <>
      <Typography variant="h6" component="p">
        {decimal(f.dilation, 2)} times as long as alone
      </Typography>
      <Typography variant="body2" color="text.secondary">
        ± {decimal(f.dilationError, 2)}, for {f.atLeast ? 'more than ' : ''}
        {duration(f.sinceSeconds)}
      </Typography>
      <Causes pod={f} />
      <Typography component="div" sx={{ mt: 1 }}>
        <strong>Remedy:</strong> {remedyText(f)}
      </Typography>
      {f.remedy.action !== 'Leave' && (
        <Typography component="div">
          <strong>Then:</strong> {thenText(f.remedy)}
        </Typography>
      )}
      {f.remedy.action === 'Leave' && !f.remedy.problem && (
        <Typography variant="body2" color="text.secondary">
          Nothing is known to help without leaving another pod about as badly off.
        </Typography>
      )}
    </>
  );
}

function Causes({ pod }: { pod: Pod }) {
  return (
    <Box sx={{ my: 1.5, maxWidth: 720 }}>
      <StackedBar pod={pod} scale={pod.dilation} />
      <CauseTable pod={pod} sx={{ mt: 1 }} />
    </Box>
  );
}
