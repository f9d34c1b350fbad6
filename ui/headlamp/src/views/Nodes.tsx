import Box from '@mui/material/Box';
import Table from '@mui/material/Table';
import TableBody from '@mui/material/TableBody';
import TableCell from '@mui/material/TableCell';
import TableHead from '@mui/material/TableHead';
import TableRow from '@mui/material/TableRow';
import { Node } from '../findings/answer';
import { decimal, percent } from '../findings/format';
import { remark } from '../findings/verdict';
import { NodeName } from './Names';

const columns = ['CPUs', 'Busy', 'By pods', 'Stolen', 'Pods', 'Slowed', 'Age'];

/** Nodes shows how busy the nodes are, and how many pods are slowed down on each. */
export function Nodes({ nodes }: { nodes: Node[] }) {
  const remarks = nodes.some(n => n.problem || remark(n) !== '');
  return (
    <Box sx={{ overflowX: 'auto' }}>
      <Table
        size="small"
        aria-label="Nodes"
        sx={{ '& td, & th': { px: { xs: 0.75, sm: 2 } }, '& th': { whiteSpace: 'nowrap' } }}
      >
        <TableHead>
          <TableRow>
            <TableCell>Node</TableCell>
            {columns.map(words => (
              <TableCell key={words} align="right">
                {words}
              </TableCell>
            ))}
            {remarks && <TableCell>Remark</TableCell>}
          </TableRow>
        </TableHead>
        <TableBody>
          {nodes.map(n => (
            <TableRow key={n.name}>
              <TableCell sx={{ minWidth: 96, overflowWrap: 'anywhere' }}>
                <NodeName name={n.name} />
              </TableCell>
              {numbers(n).map((words, i) => (
                <TableCell key={i} align="right">
                  {words}
                </TableCell>
              ))}
              {remarks && <TableCell sx={{ minWidth: 200 }}>{n.problem ?? remark(n)}</TableCell>}
            </TableRow>
          ))}
        </TableBody>
      </Table>
    </Box>
  );
}

function numbers(n: Node): string[] {
  if (n.problem) {
    return columns.map(() => '-');
  }
  return [
    decimal(n.cpus, 0),
    percent(n.busy),
    percent(n.podsBusy),
    percent(n.stolen),
    decimal(n.pods, 0),
    decimal(n.slowed, 0),
    `${decimal(n.ageSeconds, 0)}s`,
  ];
}
