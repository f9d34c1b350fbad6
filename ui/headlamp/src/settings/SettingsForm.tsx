import type { PluginSettingsDetailsProps } from '@kinvolk/headlamp-plugin/lib';
import Stack from '@mui/material/Stack';
import TextField from '@mui/material/TextField';
import { defaults, problem, Settings } from './settings';

const labels: { name: keyof Settings; label: string; help: string }[] = [
  { name: 'namespace', label: 'Namespace', help: 'Where Loadline is installed' },
  { name: 'service', label: 'Service', help: "The service of Loadline's page" },
  {
    name: 'serviceAccount',
    label: 'Service account',
    help: 'Whose token the page is asked with; it is in the same namespace',
  },
];

/** SettingsForm has a field for each setting. An empty one stands for the default. */
export function SettingsForm({ data, onDataChange }: PluginSettingsDetailsProps) {
  const values: Record<string, unknown> = data ?? {};
  return (
    <Stack spacing={2} sx={{ maxWidth: 480, py: 1 }}>
      {labels.map(({ name, label, help }) => {
        const stored = values[name];
        const value = typeof stored === 'string' ? stored : '';
        const wrong = problem(name, value);
        return (
          <TextField
            key={name}
            label={label}
            value={value}
            placeholder={defaults[name]}
            InputLabelProps={{ shrink: true }}
            error={wrong !== undefined}
            helperText={wrong ?? `${help}. Default: ${defaults[name]}`}
            onChange={event => onDataChange?.({ ...values, [name]: event.target.value.trim() })}
          />
        );
      })}
    </Stack>
  );
}
