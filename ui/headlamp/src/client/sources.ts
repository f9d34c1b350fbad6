import { Settings } from '../settings/settings';
import { Api } from './api';
import { Clock } from './clock';
import { loader } from './load';
import { Page, Poller } from './poller';

/** Sources has a poller for each cluster and each settings. */
export class Sources {
  private readonly pollers = new Map<string, Poller>();

  constructor(
    private readonly api: (cluster: string) => Api,
    private readonly clock: Clock,
    private readonly page: Page
  ) {}

  /** of returns the poller of a cluster, the same for the same settings. */
  of(cluster: string, s: Settings): Poller {
    const key = JSON.stringify([cluster, s.namespace, s.service, s.serviceAccount]);
    let poller = this.pollers.get(key);
    if (!poller) {
      poller = new Poller(loader(this.api(cluster), s, this.clock), this.clock, this.page);
      this.pollers.set(key, poller);
    }
    return poller;
  }
}
