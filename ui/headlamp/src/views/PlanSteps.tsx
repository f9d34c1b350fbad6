import Box from '@mui/material/Box';
import Typography from '@mui/material/Typography';
import { Answer, Step } from '../findings/answer';
import { amount, sentence } from '../findings/format';
import { planNote } from '../findings/verdict';
import { changeText, effects, winText } from '../findings/words';

/** PlanSteps shows the changes of the plan in their order. */
export function PlanSteps({ answer }: { answer: Answer }) {
  return (
    <>
      <Typography>{planNote(answer)}</Typography>
      <Box component="ol" sx={{ pl: 3, my: 1 }}>
        {answer.plan.steps.map((step, i) => (
          <Box component="li" key={i} sx={{ mb: 1.5, overflowWrap: 'anywhere' }}>
            <PlanStep step={step} />
          </Box>
        ))}
      </Box>
    </>
  );
}

function PlanStep({ step }: { step: Step }) {
  const { helps, costs } = effects(step);
  const lines = [
    `Wins ${winText(step)}, leaves ${amount(step.left)}.`,
    helps.length > 0 && `Helps ${helps.join(', ')}.`,
    costs.length > 0 && `Costs ${costs.join(', ')}.`,
    step.notInPlace && `Not in place: ${step.notInPlace}.`,
    ...step.notes.map(note => `${sentence(note)}.`),
  ];
  return (
    <>
      <strong>{sentence(changeText(step))}</strong>
      {lines
        .filter(line => typeof line === 'string' && line !== '')
        .map((line, i) => (
          <Typography variant="body2" key={i}>
            {line}
          </Typography>
        ))}
    </>
  );
}
