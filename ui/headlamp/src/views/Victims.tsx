import Box from '@mui/material/Box';
import Button from '@mui/material/Button';
import { Theme } from '@mui/material/styles';
import Table from '@mui/material/Table';
import TableBody from '@mui/material/TableBody';
import TableCell from '@mui/material/TableCell';
import TableHead from '@mui/material/TableHead';
import TableRow from '@mui/material/TableRow';
import { SystemStyleObject } from '@mui/system';
import { useState } from 'react';
import { Finding } from '../findings/answer';
import { decimal, within } from '../findings/format';
import { because, remedyText, since, thenText } from '../findings/words';
import { CauseTable, hidden } from './CauseTable';
import { PodName } from './Names';
import { Legend, StackedBar } from './StackedBar';

type Style = SystemStyleObject<Theme>;

/** On a narrow page each row is a block of lines, with the words of the head before those that need them. */
const row: Style = { display: { xs: 'block', md: 'table-row' }, py: { xs: 1, md: 0 } };
const cell: Style = {
  display: { xs: 'block', md: 'table-cell' },
  border: 0,
  py: { xs: 0.25, md: 1 },
  px: { xs: 0, md: 1 },
  verticalAlign: 'top',
  overflowWrap: 'anywhere',
};
const label = (words: string): Style => ({
  ...cell,
  '&::before': { content: `"${words}: "`, color: 'text.secondary', display: { md: 'none' } },
});

/** How many pods have rows before all are asked for. */
const few = 50;

/** Victims shows pods that are slowed down, with bars on one scale. */
export function Victims({ findings }: { findings: Finding[] }) {
  const [all, setAll] = useState(false);
  const shown = all ? findings : findings.slice(0, few);
  const scale = Math.max(1, ...findings.map(f => f.dilation));
  return (
    <>
      <Legend causes={findings.flatMap(f => f.causes)} />
      <Table
        role="table"
        size="small"
        aria-label="Pods that are slowed down"
        sx={{ display: { xs: 'block', md: 'table' } }}
      >
        <TableHead role="rowgroup" sx={{ display: { xs: 'none', md: 'table-header-group' } }}>
          <TableRow role="row">
            {['Dilation', 'Pod', 'Because of', 'Since', 'Remedy', 'Then'].map(words => (
              <TableCell role="columnheader" key={words} sx={{ px: 1 }}>
                {words}
              </TableCell>
            ))}
          </TableRow>
        </TableHead>
        <TableBody role="rowgroup" sx={{ display: { xs: 'block', md: 'table-row-group' } }}>
          {shown.map((f, i) => (
            <Victim key={i} finding={f} scale={scale} />
          ))}
        </TableBody>
      </Table>
      {shown.length < findings.length && (
        <Button onClick={() => setAll(true)}>Show all {decimal(findings.length, 0)} pods</Button>
      )}
    </>
  );
}

function Victim({ finding: f, scale }: { finding: Finding; scale: number }) {
  return (
    <TableRow role="row" sx={{ ...row, borderBottom: 1, borderColor: 'divider' }}>
      <TableCell role="cell" sx={{ ...cell, whiteSpace: 'nowrap', fontWeight: 'bold' }}>
        {within(f.dilation, f.dilationError)}×
      </TableCell>
      <TableCell role="cell" sx={{ ...cell, width: { md: '18%' } }}>
        <PodName name={f.pod} />
      </TableCell>
      <TableCell role="cell" sx={{ ...cell, width: { md: '32%' }, position: 'relative' }}>
        <StackedBar pod={f} scale={scale} />
        <Box sx={{ mt: 0.5 }}>{because(f.causes)}</Box>
        <Box sx={hidden}>
          <CauseTable pod={f} plain />
        </Box>
      </TableCell>
      <TableCell role="cell" sx={{ ...label('Since'), whiteSpace: 'nowrap' }}>
        {since(f)}
      </TableCell>
      <TableCell role="cell" sx={label('Remedy')}>
        {remedyText(f)}
      </TableCell>
      <TableCell role="cell" sx={label('Then')}>
        {thenText(f.remedy)}
      </TableCell>
    </TableRow>
  );
}
