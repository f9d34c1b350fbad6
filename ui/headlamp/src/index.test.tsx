import { act, render, screen } from '@testing-library/react';
import { ComponentType } from 'react';
import who from './testdata/who.json';
import { settled } from './testing/clock';

const headlamp = vi.hoisted(() => ({
  stored: {} as Record<string, string>,
  registerDetailsViewSection: vi.fn(),
  registerPluginSettings: vi.fn(),
  registerRoute: vi.fn(),
  registerSidebarEntry: vi.fn(),
  request: vi.fn(),
  post: vi.fn(),
}));

vi.mock('@kinvolk/headlamp-plugin/lib', () => ({
  ...headlamp,
  ApiProxy: headlamp,
  ConfigStore: class {
    useConfig() {
      return () => headlamp.stored;
    }
  },
  K8s: { useCluster: () => 'minikube' },
}));
vi.mock(
  '@kinvolk/headlamp-plugin/lib/CommonComponents',
  () => import('./testing/commonComponents')
);

/** registered returns the component that was registered. */
function section(): ComponentType<{ resource?: object }> {
  return headlamp.registerDetailsViewSection.mock.calls[0]?.[0];
}

beforeAll(async () => {
  await import('./index');
});

it('registers a section, a page, its entry in the sidebar, and settings', () => {
  expect(headlamp.registerSidebarEntry).toHaveBeenCalledWith(
    expect.objectContaining({ label: 'Loadline', url: '/loadline' })
  );
  expect(headlamp.registerRoute).toHaveBeenCalledWith(
    expect.objectContaining({ path: '/loadline', sidebar: 'loadline' })
  );
  expect(headlamp.registerPluginSettings).toHaveBeenCalledWith('loadline', expect.anything(), true);
});

it('a section of a config map is empty, and asks nothing', () => {
  const Section = section();
  const { container } = render(<Section resource={{ kind: 'ConfigMap', jsonData: {} }} />);
  expect(container.textContent).toBe('');
  expect(headlamp.post).not.toHaveBeenCalled();
});

it('a section asks the cluster of its object, where the settings say, and signs no one out', async () => {
  headlamp.stored = { namespace: 'tools' };
  headlamp.post.mockResolvedValue({ status: { token: 'secret' } });
  headlamp.request.mockResolvedValue(new Response(JSON.stringify(who)));
  const metadata = { namespace: 'shop', name: 'cart-7c9f4-x2k8p' };
  const resource = { kind: 'Pod', cluster: 'east', metadata, jsonData: { kind: 'Pod', metadata } };
  const Section = section();
  render(<Section resource={resource} />);
  await act(settled);
  expect(screen.getByText('6.74 times as long as alone')).toBeTruthy();
  expect(headlamp.post).toHaveBeenCalledWith(
    '/api/v1/namespaces/tools/serviceaccounts/loadline-viewer/token',
    expect.anything(),
    false,
    expect.objectContaining({ cluster: 'east' })
  );
  expect(headlamp.request).toHaveBeenCalledWith(
    '/api/v1/namespaces/tools/services/https:loadline-ui:https/proxy/api/v1/findings',
    expect.objectContaining({
      cluster: 'east',
      headers: { 'Loadline-Token': 'secret' },
      autoLogoutOnAuthError: false,
    })
  );
});
