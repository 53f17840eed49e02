/**
 * Kubeconfigs that hold no secret: they name files of the person's machine, or a program that logs in there. So neither the
 * page nor the downloaded file is worth stealing. Pure.
 */
import { toBase64 } from './base64.ts'

/** How kubectl proves who it is. */
export type KubeconfigLogin =
  | { readonly is: 'token-file'; readonly path: string }
  | { readonly is: 'certificate'; readonly certificatePath: string; readonly keyPath: string }
  | { readonly is: 'issuer'; readonly issuer: LoginIssuer }

/** An offer of /hub/v1/login. */
export interface LoginIssuer {
  readonly issuerUrl: string
  readonly clientId: string
}

export interface KubeconfigWish {
  /** The address of the hub, https://host:port. */
  readonly server: string
  /** PEM; undefined if the computer trusts the hub's certificate anyway. */
  readonly authority: string | undefined
  /** The clusters behind the hub, each of which gets a context. */
  readonly clusters: readonly string[]
  /** Whether the hub itself has a context, too. */
  readonly hasHub: boolean
  readonly login: KubeconfigLogin
}

const user = 'hub-user'

/** Returns the kubeconfig with the first context as the current one. */
export function kubeconfigOf(wish: KubeconfigWish): Readonly<Record<string, unknown>> {
  const { server, authority, clusters, hasHub, login } = wish
  const trust = authority === undefined ? {} : { 'certificate-authority-data': toBase64(authority) }
  const hub = hasHub ? [{ name: 'hub', server }] : []
  const all = [
    ...hub,
    ...clusters.map((name) => ({ name, server: `${server}/clusters/${encodeURIComponent(name)}` })),
  ]
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: all.map((each) => ({ name: each.name, cluster: { server: each.server, ...trust } })),
    contexts: all.map(({ name }) => ({ name, context: { cluster: name, user } })),
    'current-context': all[0]?.name ?? '',
    users: [{ name: user, user: credentialOf(login) }],
  }
}

function credentialOf(login: KubeconfigLogin): Readonly<Record<string, unknown>> {
  switch (login.is) {
    case 'token-file':
      return { tokenFile: login.path }
    case 'certificate':
      return { 'client-certificate': login.certificatePath, 'client-key': login.keyPath }
    case 'issuer':
      return { exec: loginProgram(login.issuer) }
  }
}

/** The program that `skerry login` names, too: it gives kubectl the tokens of that login, and renews them. */
function loginProgram({ issuerUrl, clientId }: LoginIssuer) {
  return {
    apiVersion: 'client.authentication.k8s.io/v1beta1',
    command: 'skerry',
    args: ['credential', 'oidc', '--issuer', issuerUrl, '--client-id', clientId],
    interactiveMode: 'IfAvailable',
    provideClusterInfo: false,
  }
}
