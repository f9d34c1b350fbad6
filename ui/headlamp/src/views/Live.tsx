import Alert from '@mui/material/Alert';
import AlertTitle from '@mui/material/AlertTitle';
import Box from '@mui/material/Box';
import CircularProgress from '@mui/material/CircularProgress';
import Typography from '@mui/material/Typography';
import { ReactNode, useSyncExternalStore } from 'react';
import { Failure } from '../client/failure';
import { Poller, State } from '../client/poller';
import { Answer } from '../findings/answer';

/**
 * Live shows what a poller has: an answer as its children have it, with when it came; why there is none; or
 * that it is being asked for.
 */
export function Live({ poller, children }: { poller: Poller; children: (a: Answer) => ReactNode }) {
  const state = useSyncExternalStore(poller.subscribe, poller.snapshot);
  const { answer, failure } = state;
  if (!answer) {
    return failure ? <FailureNote failure={failure} /> : <Asking />;
  }
  return (
    <>
      {failure && <FailureNote failure={failure} />}
      {state.stale && <Freshness state={state} />}
      <Box sx={state.stale ? { opacity: 0.8 } : undefined}>{children(answer)}</Box>
      {!state.stale && <Freshness state={state} />}
    </>
  );
}

function Asking() {
  return (
    <Box role="status" sx={{ display: 'flex', alignItems: 'center', gap: 1, py: 1 }}>
      <CircularProgress size={18} aria-hidden />
      <Typography variant="body2">Loadline is asked …</Typography>
    </Box>
  );
}

/** FailureNote says why there is no answer, and what to do. */
export function FailureNote({ failure }: { failure: Failure }) {
  return (
    // Headlamp's dark theme leaves the text of alerts dark.
    <Alert
      severity="warning"
      variant="outlined"
      sx={{ my: 1, overflowWrap: 'anywhere', color: 'text.primary' }}
    >
      <AlertTitle>{failure.title}</AlertTitle>
      {failure.advice}
      {failure.detail !== '' && (
        <Typography variant="caption" component="p" sx={{ mt: 1, mb: 0 }}>
          The answer was: {failure.detail}
        </Typography>
      )}
    </Alert>
  );
}

function Freshness({ state: { at, stale } }: { state: State }) {
  if (at === undefined) {
    return null;
  }
  const time = new Date(at).toLocaleTimeString();
  return (
    <Typography
      variant="caption"
      component="p"
      role={stale ? 'status' : undefined}
      sx={{ my: 1, fontWeight: stale ? 'bold' : undefined }}
    >
      {stale ? `Stale: this is what Loadline said at ${time}.` : `As of ${time}, asked every 10 s.`}
    </Typography>
  );
}
