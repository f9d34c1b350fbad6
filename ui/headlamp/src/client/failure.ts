import { NotAnAnswer } from '../findings/read';
import { Settings } from '../settings/settings';
import { Refusal } from './api';

/** Failure says in plain words why there is no answer, and what to do. */
export interface Failure {
  title: string;
  advice: string;
  /** What the server said, to pass on. */
  detail: string;
}

/** What was asked for when it failed. */
export type Asked = 'token' | 'findings';

/** failureOf returns the failure that an error is. */
export function failureOf(error: unknown, asked: Asked, s: Settings): Failure {
  const detail = error instanceof Error ? error.message : String(error);
  if (error instanceof NotAnAnswer || error instanceof SyntaxError) {
    return {
      title: 'Loadline answers, but not as this plugin expects.',
      advice: 'Install the version of the plugin that belongs to the Loadline in the cluster.',
      detail,
    };
  }
  const status = error instanceof Refusal ? error.status : 0;
  const words = asked === 'token' ? ofToken(status, s) : ofFindings(status, detail, s);
  return { ...(words ?? ofAny(status, s)), detail };
}

type Words = Omit<Failure, 'detail'>;

function ofToken(status: number, s: Settings): Words | undefined {
  const account = `${s.namespace}/${s.serviceAccount}`;
  switch (status) {
    case 403:
      return {
        title: `You may not ask for a token of the service account ${account}.`,
        advice:
          'Ask an administrator of the cluster for the right to create serviceaccounts/token of it, ' +
          'or name another service account in the settings of the plugin.',
      };
    case 404:
      return {
        title: `There is no service account ${account}.`,
        advice:
          'Install Loadline with its page, or say in the settings of the plugin which namespace and ' +
          'service account it has.',
      };
    default:
      return undefined;
  }
}

function ofFindings(status: number, detail: string, s: Settings): Words | undefined {
  const service = `${s.namespace}/${s.service}`;
  switch (status) {
    case 401:
      return {
        title: `Loadline does not accept the token of ${s.namespace}/${s.serviceAccount}.`,
        advice:
          'If you are signed out of the cluster, sign in again. Otherwise see the log of ' +
          `the service ${service}: it says why it refuses tokens.`,
      };
    case 403:
      if (detail.includes('services/proxy')) {
        return {
          title: `You may not reach the service ${service} through the API server.`,
          advice:
            'Ask an administrator of the cluster for the right to get services/proxy of ' +
            `https:${s.service}:https in the namespace ${s.namespace}.`,
        };
      }
      return {
        title: `The service account ${s.namespace}/${s.serviceAccount} may not see findings.`,
        advice:
          'Bind it to the roles that Loadline has for those who read findings, or name another service ' +
          'account in the settings of the plugin.',
      };
    case 404:
      if (/services? "[^"]*" not found/.test(detail)) {
        return {
          title: `There is no service ${service}.`,
          advice:
            'Install Loadline with its page, or say in the settings of the plugin which namespace and ' +
            'service it has.',
        };
      }
      return {
        title: `The service ${service} has no findings to give.`,
        advice: 'Install a version of Loadline that has /api/v1/findings.',
      };
    case 429:
      return {
        title: 'Loadline is asked too often.',
        advice: 'Wait: the plugin asks again by itself.',
      };
    case 503:
      if (detail.includes('no endpoints')) {
        return {
          title: `No pod of the service ${service} is ready, or it has no port https.`,
          advice: `Look at the pods behind it in the namespace ${s.namespace}. The plugin asks again by itself.`,
        };
      }
      if (detail.includes('error trying to reach service')) {
        return ofAny(502, s);
      }
      return {
        title: 'Loadline has no answer at the moment.',
        advice:
          'Wait: the plugin asks again by itself. kubectl loadline status says what is missing.',
      };
    default:
      return undefined;
  }
}

function ofAny(status: number, s: Settings): Words {
  switch (status) {
    case 401:
      return {
        title: 'You are signed out of the cluster.',
        advice: 'Sign in again in Headlamp.',
      };
    case 0:
    case 408:
    case 502:
    case 504:
      return {
        title: `The service ${s.namespace}/${s.service} does not answer.`,
        advice:
          'See whether the cluster can be reached and whether the pods behind the service run. ' +
          'The plugin asks again by itself.',
      };
    default:
      return {
        title: `The request failed with status ${status}.`,
        advice: `See the log of the service ${s.namespace}/${s.service}.`,
      };
  }
}
