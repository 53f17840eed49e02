import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { AnyObject } from '@skerry/api'

export interface KarmadaObjectsOptions {
  /** The directory of Karmada's module. */
  readonly source: string
  /** The API server, as agents dial it. */
  readonly server: string
  readonly serverCaPem: string
  /** The authority of the webhooks and the aggregated servers. */
  readonly servingCaPem: string
  readonly webhookPort: number
}

/** The URL for conversions and admission in Karmada's manifests. */
const webhookHost =
  /https:\/\/(?:karmada-webhook\.karmada-system|\{\{name\}\}\.\{\{namespace\}\})\.svc:443/g

/** Returns the namespaces and definitions, which are created before everything else. */
export async function karmadaDefinitions(options: KarmadaObjectsOptions): Promise<AnyObject[]> {
  const crds = join(options.source, 'charts/karmada/_crds')
  const files = await readdir(join(crds, 'bases'), { recursive: true })
  const bases: AnyObject[] = []
  for (const file of files.filter((name) => name.endsWith('.yaml')).toSorted()) {
    bases.push(...(await read(join(crds, 'bases', file), options)))
  }
  const patches: AnyObject[] = []
  for (const file of await readdir(join(crds, 'patches'))) {
    patches.push(...(await read(join(crds, 'patches', file), options)))
  }
  const namespaces = ['karmada-system', 'karmada-cluster'].map((name) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
  }))
  return [...namespaces, ...bases.map((base) => patched(base, patches))]
}

/** A patch of theirs replaces fields of the spec. */
function patched(base: AnyObject, patches: readonly AnyObject[]): AnyObject {
  const own = patches.find(({ metadata }) => metadata.name === base.metadata.name)
  if (own === undefined) return base
  return { ...base, spec: { ...Object(base['spec']), ...Object(own['spec']) } }
}

/** Returns the webhooks, rights and objects that registration requires. */
export async function karmadaPolicy(options: KarmadaObjectsOptions): Promise<AnyObject[]> {
  const names = [
    'admin-clusterrole-aggregation.yaml',
    'bootstrap-token-configuration.yaml',
    'cluster-proxy-admin-rbac.yaml',
    'webhook-configuration.yaml',
  ]
  const all: AnyObject[] = []
  for (const name of names) {
    all.push(...(await read(join(options.source, 'artifacts/deploy', name), options)))
  }
  return all
}

/** A server of Karmada's behind its API server, on a port of loopback. */
export function aggregatedServer(
  { group, name, port }: { group: string; name: string; port: number },
  servingCaPem: string,
): AnyObject[] {
  const namespace = 'karmada-system'
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace },
      spec: { type: 'ExternalName', externalName: 'localhost' },
    },
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: `v1alpha1.${group}` },
      spec: {
        group,
        version: 'v1alpha1',
        groupPriorityMinimum: 2_000,
        versionPriority: 10,
        caBundle: base64(servingCaPem),
        service: { name, namespace, port },
      },
    },
  ]
}

async function read(path: string, options: KarmadaObjectsOptions): Promise<AnyObject[]> {
  const { server, serverCaPem, servingCaPem, webhookPort } = options
  const text = (await readFile(path, 'utf8'))
    .replaceAll(webhookHost, `https://127.0.0.1:${webhookPort}`)
    .replaceAll('{{caBundle}}', base64(servingCaPem))
    .replaceAll('{{ca_crt}}', base64(serverCaPem))
    .replaceAll('{{apiserver_address}}', server)
  // Karmada's manifests contain only objects.
  const objects = parseAllDocuments(text).map((document) => document.toJS() as AnyObject | null)
  return objects.filter((object) => object !== null)
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
