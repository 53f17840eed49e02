import { asError, createBackoff, type Clock, type Logger, type Random } from '@skerry/base'
import { contains } from '../children/contains.ts'
import type { CustomResourceDefinition } from '@skerry/api'
import { anyObjects, ifThere, resources, type ClusterClient } from '@skerry/client'
import { edgeAppsBounds } from '../limits-table.ts'
import { definitionOf, ownerLabel, type DefinedKind } from './definition.ts'
import { putAccessRoles, removeAccessRoles } from './put-access-roles.ts'

export interface DefinitionDeps {
  readonly cluster: ClusterClient
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

const { lookMs, retry } = edgeAppsBounds.installDefinitions
const definitions = resources.customResourceDefinitions

/** Defines these kinds and the roles for them, and resolves when the server serves them all. Tries again until the signal aborts. */
export async function installDefinitions(
  kinds: readonly DefinedKind[],
  deps: DefinitionDeps,
  signal: AbortSignal,
): Promise<void> {
  const backoff = createBackoff(retry, deps.random)
  for (;;) {
    try {
      for (const kind of kinds) await putDefinition(definitionOf(kind), deps, signal)
      await putAccessRoles(kinds, deps, signal)
      for (const kind of kinds) await untilServed(definitionOf(kind), deps, signal)
      return
    } catch (error) {
      signal.throwIfAborted()
      deps.log.info('Kinds of edge applications not defined, trying again', {
        error: asError(error),
      })
      await deps.clock.sleep(backoff.nextMs(), signal)
    }
  }
}

type Version = CustomResourceDefinition['spec']['versions'][number]

/**
 * Another program's definition of the kind gets the version that is missing or different, and keeps the others: objects
 * may be stored in them. It stays when the option goes.
 */
async function putDefinition(
  wanted: CustomResourceDefinition,
  { cluster, log }: DefinitionDeps,
  signal: AbortSignal,
): Promise<void> {
  const client = cluster.resource(definitions)
  const { name = '' } = wanted.metadata
  const known = await ifThere(client.get({ name }, signal))
  if (!known) {
    await client.create(wanted, signal)
    log.info('Kind defined', { kind: name })
    return
  }
  const has = (version: Version): boolean => {
    const own = known.spec.versions.find(({ name: each }) => each === version.name)
    // Objects are stored in one version; another program's own form of an older one is as good.
    return version.storage ? contains(own, version) : own !== undefined
  }
  const missing = wanted.spec.versions.filter((version) => !has(version))
  if (missing.length === 0) return
  const [stored] = missing.filter(({ storage }) => storage)
  const others = known.spec.versions.filter(
    (each) => !missing.some(({ name: wrong }) => wrong === each.name),
  )
  const kept = stored ? others.map((each) => ({ ...each, storage: false })) : others
  const versions = [...kept, ...missing]
  await client.update({ ...known, spec: { ...known.spec, versions } }, signal)
  log.info('Kind defined again', {
    kind: name,
    other: known.metadata.labels?.[ownerLabel] !== 'true',
  })
}

async function untilServed(
  { metadata: { name = '' } }: CustomResourceDefinition,
  { cluster, clock }: DefinitionDeps,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const { status } = await cluster.resource(definitions).get({ name }, signal)
    if (status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True'))
      return
    await clock.sleep(lookMs, signal)
  }
}

/** Takes the definitions of this program and the roles away, but for those that have an object: nobody's objects go silently. */
export async function removeEdgeApps(
  { cluster, log }: Pick<DefinitionDeps, 'cluster' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  const client = cluster.resource(definitions)
  const { items } = await client.list({ labelSelector: `${ownerLabel}=true` }, signal)
  let left = 0
  for (const { metadata, spec } of items) {
    const { name = '', uid = '' } = metadata
    const version = spec.versions.find(({ storage }) => storage)?.name ?? ''
    const { group, names, scope } = spec
    const isNamespaced = scope === 'Namespaced'
    const objects = anyObjects({ group, version, resource: names.plural, isNamespaced })
    const { items: kept } = await cluster.resource(objects).list({}, signal)
    if (kept.length > 0) {
      const fields = { kind: name, objects: kept.length }
      left += 1
      log.info('Kind stays because it has objects; delete them with --edge-apps', fields)
      continue
    }
    await ifThere(client.delete({ name, preconditions: { uid } }, signal))
    log.info('Kind taken away', { kind: name })
  }
  if (left === 0) await removeAccessRoles({ cluster }, signal)
}
