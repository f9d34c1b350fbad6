import { Theme } from '@mui/material/styles';
import Table from '@mui/material/Table';
import TableBody from '@mui/material/TableBody';
import TableCell from '@mui/material/TableCell';
import TableHead from '@mui/material/TableHead';
import TableRow from '@mui/material/TableRow';
import { SystemStyleObject } from '@mui/system';
import { Pod } from '../findings/answer';
import { added } from '../findings/format';
import { kindOf } from '../findings/kinds';
import { causeName } from '../findings/words';
import { PodName } from './Names';
import { Swatch } from './StackedBar';

/** hidden is the style of what only screen readers read. */
export const hidden: SystemStyleObject<Theme> = {
  position: 'absolute',
  width: '1px',
  height: '1px',
  overflow: 'hidden',
  clipPath: 'inset(50%)',
  whiteSpace: 'nowrap',
};

/** The smallest dilation whose cause has a row: less would be written as 0.00. */
const smallest = 0.005;

interface Props {
  pod: Pod;
  /** Names lead nowhere: what cannot be seen must not take the focus. */
  plain?: boolean;
  sx?: SystemStyleObject<Theme>;
}

/** CauseTable has a row for each cause of the dilation of a pod that adds something. It is the table behind a bar. */
export function CauseTable({ pod, plain, sx }: Props) {
  const shown = pod.causes.filter(c => c.dilation >= smallest);
  return (
    <Table size="small" aria-label={`What slows down ${pod.pod}`} sx={{ maxWidth: 560, ...sx }}>
      <TableHead>
        <TableRow>
          <TableCell>Because of</TableCell>
          <TableCell align="right">Adds</TableCell>
        </TableRow>
      </TableHead>
      <TableBody>
        {shown.map((c, i) => (
          <TableRow key={i}>
            <TableCell sx={{ overflowWrap: 'anywhere' }}>
              <Swatch kind={kindOf(c)} />
              {c.kind === 'Neighbour' && c.pod && !plain ? <PodName name={c.pod} /> : causeName(c)}
            </TableCell>
            <TableCell align="right">{added(c.dilation)}</TableCell>
          </TableRow>
        ))}
      </TableBody>
    </Table>
  );
}
