import { fireEvent, render, screen } from '@testing-library/react';
import { SettingsForm } from './SettingsForm';

it('a field shows its default, and what is typed is stored beside the rest', () => {
  const onDataChange = vi.fn();
  render(<SettingsForm data={{ service: 'ui' }} onDataChange={onDataChange} />);
  expect(screen.getByLabelText('Service')).toHaveProperty('value', 'ui');
  const field = screen.getByLabelText('Namespace');
  expect(field).toHaveProperty('placeholder', 'loadline-system');
  fireEvent.change(field, { target: { value: ' tools ' } });
  expect(onDataChange).toHaveBeenCalledWith({ service: 'ui', namespace: 'tools' });
});

it('a name that cannot be one is marked', () => {
  render(<SettingsForm data={{ namespace: '../secrets' }} />);
  expect(screen.getByLabelText('Namespace').getAttribute('aria-invalid')).toBe('true');
  expect(screen.getByText(/lower-case letters/)).toBeTruthy();
});
