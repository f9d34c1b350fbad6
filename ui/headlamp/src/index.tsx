import {
  ConfigStore,
  DetailsViewSectionProps,
  K8s,
  registerDetailsViewSection,
  registerPluginSettings,
  registerRoute,
  registerSidebarEntry,
} from '@kinvolk/headlamp-plugin/lib';
import { browserClock } from './client/clock';
import { headlampApi } from './client/headlamp';
import { browserPage, Poller } from './client/poller';
import { Sources } from './client/sources';
import { Settings, settingsFrom } from './settings/settings';
import { SettingsForm } from './settings/SettingsForm';
import { DetailsSection, hasSection } from './views/DetailsSection';
import { LoadlinePage } from './views/LoadlinePage';

/** The name of the plugin in package.json, by which Headlamp keeps its settings. */
const plugin = 'loadline';

const sources = new Sources(headlampApi, browserClock, browserPage);
const useStored = new ConfigStore<Partial<Settings>>(plugin).useConfig();

/** usePoller returns what asks Loadline in a cluster, as the settings say now. */
function usePoller(cluster: string): Poller {
  return sources.of(cluster, settingsFrom(useStored()));
}

function Section({ resource }: DetailsViewSectionProps) {
  const current = K8s.useCluster();
  const poller = usePoller(resource?.cluster ?? current ?? '');
  if (!resource || !hasSection(resource.kind)) {
    return null;
  }
  return <DetailsSection resource={resource.jsonData} poller={poller} />;
}

function Page() {
  const cluster = K8s.useCluster();
  return <LoadlinePage poller={usePoller(cluster ?? '')} />;
}

registerDetailsViewSection(Section);
registerSidebarEntry({
  parent: null,
  name: plugin,
  label: 'Loadline',
  url: '/loadline',
  icon: 'mdi:ferry',
});
registerRoute({
  path: '/loadline',
  sidebar: plugin,
  name: 'Loadline',
  exact: true,
  component: Page,
});
registerPluginSettings(plugin, SettingsForm, true);
