import {
  checkDnsSubdomain,
  isJsonObject,
  type JsonObject,
  type Node,
  type PodTemplateSpec,
} from '@skerry/api'
import { controllerReference } from '@skerry/controller-runtime'
import type { AppReading, AppWorld } from '../children/app-kind.ts'
import {
  childKey,
  withApplied,
  type Child,
  type Refusal,
  type WantedChild,
} from '../children/child.ts'
import { nameFault } from '../children/child-name.ts'
import { groupPolicyOf } from '../children/group-policy.ts'
import { apiVersionOf, manifestKinds, type ManifestKind } from '../children/manifest-kinds-table.ts'
import { placePods } from '../children/place-pods.ts'
import { targetsOf, type Target } from './application-targets.ts'
import type { EdgeApplication } from './edge-application.ts'
import { withOverriders } from './overriders.ts'

/** The annotation of a Service that stays within each group, and its value. */
const serviceTopology = 'apps.kubeedge.io/service-topology'
const rangeOfGroup = 'range-nodegroup'

/** A child of an application and the manifest that it comes from. */
export interface ManifestChild {
  /** The place of the manifest in its list. */
  readonly ordinal: number
  readonly apiVersion: string
  readonly wanted: WantedChild
}

/** Reads an application: the groups that it names, and the children that they are to have. */
export function readApplication(app: EdgeApplication, { nodes }: AppWorld): AppReading {
  const targets = targetsOf(app, nodes)
  const problem = 'message' in targets ? targets : undefined
  const children = childrenOf(app, nodes)
  const isReadable = children.every(({ wanted }) => wanted.name !== '')
  return {
    groups: 'message' in targets ? [] : targets.map(({ group }) => group),
    ...(problem ? { problem } : {}),
    wanted: children.map(({ wanted }) => wanted),
    policy: groupPolicyOf(app.spec?.groupPolicy, { childEdits: 'Keep' }),
    asksToBelong: () => false,
    // A group or a manifest that is no longer in the application was taken out by a person.
    groupOf: () => undefined,
    // The objects of a manifest that cannot be read stay until it can.
    keeps: () => !isReadable,
  }
}

/** Returns the children of an application in the order of its manifests. The nodes only count for the state of groups. */
export function childrenOf(app: EdgeApplication, nodes: readonly Node[] = []): ManifestChild[] {
  const found = targetsOf(app, nodes)
  const targets = 'message' in found ? [] : found
  const children = manifestsOf(app).flatMap((manifest, ordinal) =>
    ofManifest({ app, manifest, ordinal, targets }),
  )
  const seen = new Set<string>()
  return children.map((each) => {
    const { kind, name } = each.wanted
    const key = childKey(kind, name)
    if (name === '' || !seen.has(key)) {
      seen.add(key)
      return each
    }
    const manifest = refusal('RepeatedName', `another manifest makes ${kind} ${name}, too`)
    return { ...each, wanted: { ...each.wanted, manifest } }
  })
}

export function manifestsOf({ spec }: EdgeApplication): readonly JsonObject[] {
  return spec?.workloadTemplate?.manifests ?? []
}

interface ManifestView {
  readonly app: EdgeApplication
  readonly manifest: JsonObject
  readonly ordinal: number
  readonly targets: readonly Target[]
}

function ofManifest({ app, manifest, ordinal, targets }: ManifestView): ManifestChild[] {
  const { apiVersion, kind } = manifest
  const metadata = isJsonObject(manifest['metadata']) ? manifest['metadata'] : {}
  const name = typeof metadata['name'] === 'string' ? metadata['name'] : ''
  const child = (wanted: WantedChild): ManifestChild => ({
    ordinal,
    apiVersion: String(apiVersion),
    wanted,
  })
  if (typeof kind !== 'string' || typeof apiVersion !== 'string' || name === '') {
    const message = `spec.workloadTemplate.manifests[${ordinal}] must have apiVersion, kind and metadata.name`
    return [child({ group: '', kind: '', name: '', manifest: refusal('InvalidManifest', message) })]
  }
  const known = manifestKinds.find(({ resource }) => resource.kind === kind)
  const refused = refusalOf({ ...manifest, apiVersion, kind }, known, app)
  if (refused || !known) {
    const why = refused ?? refusal('KindNotSupported', kind)
    return [child({ group: '', kind, name, manifest: why })]
  }
  const perGroup = app.spec?.groupPolicy?.kindsPerGroup ?? ['Deployment']
  const view = { app, manifest, known, name }
  if (!known.podTemplate || !perGroup.includes(kind)) return [child(single(view))]
  return targets.map((target) => child(forTarget(view, target)))
}

function refusal(reason: string, message: string): Refusal {
  return { reason, message }
}

interface NamedManifest extends JsonObject {
  readonly apiVersion: string
  readonly kind: string
}

function refusalOf(
  { apiVersion, kind, metadata }: NamedManifest,
  known: ManifestKind | undefined,
  app: EdgeApplication,
): Refusal | undefined {
  if (!known) {
    const kinds = manifestKinds.map(({ resource }) => resource.kind).join(', ')
    return refusal('KindNotSupported', `an application cannot make a ${kind}, only ${kinds}`)
  }
  const served = apiVersionOf(known.resource)
  if (apiVersion !== served) {
    return refusal('VersionNotSupported', `${kind} is made as ${served}, not as ${apiVersion}`)
  }
  const namespace = isJsonObject(metadata) ? metadata['namespace'] : undefined
  if (namespace === undefined || namespace === app.metadata.namespace) return undefined
  const message = `an application makes objects in its own namespace, not in ${JSON.stringify(namespace)}`
  return refusal('OtherNamespace', message)
}

interface KnownManifest {
  readonly app: EdgeApplication
  readonly manifest: JsonObject
  readonly known: ManifestKind
  readonly name: string
}

function single({ app, manifest, known, name }: KnownManifest): WantedChild {
  const { kind } = known.resource
  const [fault] = checkDnsSubdomain(name)
  if (fault !== undefined) {
    const why = refusal('InvalidName', `"${name}" cannot be a name: ${fault}`)
    return { group: '', kind, name, manifest: why }
  }
  return { group: '', kind, name, manifest: withApplied('', childOf(app, manifest, name)) }
}

function forTarget(
  { app, manifest, known, name: original }: KnownManifest,
  { group, suffix, overriders }: Target,
): WantedChild {
  const { kind } = known.resource
  const name = `${original}-${suffix}`
  const refused = (why: Refusal): WantedChild => ({ group: group.name, kind, name, manifest: why })
  const fault = nameFault(kind, name)
  if (fault !== undefined) {
    return refused(refusal('InvalidName', `"${name}" cannot be a name: ${fault}`))
  }
  try {
    const changed = withOverriders(manifest, known, overriders)
    const contradiction = placeAt(changed, known.podTemplate ?? [], group)
    if (contradiction !== undefined) return refused(refusal('Contradiction', contradiction))
    const whole = withApplied(group.name, childOf(app, changed, name))
    return { group: group.name, kind, name, manifest: whole }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return refused(refusal('InvalidOverrider', error.message))
  }
}

/** Places the pods of a manifest that is this program's own copy. Returns the reason if that cannot be. */
function placeAt(
  manifest: JsonObject,
  path: readonly string[],
  group: Target['group'],
): string | undefined {
  let owner: JsonObject = manifest
  for (const step of path.slice(0, -1)) {
    const next = owner[step]
    if (!isJsonObject(next)) throw new RangeError(`the manifest has no ${path.join('.')}`)
    owner = next
  }
  const field = path.at(-1) ?? ''
  const template = owner[field]
  if (!isJsonObject(template)) throw new RangeError(`the manifest has no ${path.join('.')}`)
  // The server checks the template when the child is applied.
  const placed = placePods(template as PodTemplateSpec, group)
  if (placed.template) owner[field] = placed.template
  return placed.contradiction
}

/** Takes what a person may say of an object from a manifest; the rest is the server's. */
function childOf(app: EdgeApplication, manifest: JsonObject, name: string): Child {
  const { metadata, status: _status, stringData, ...content } = manifest
  const { labels, annotations, finalizers } = isJsonObject(metadata) ? metadata : {}
  const { apiVersion, kind } = content
  const own = isJsonObject(annotations) ? annotations : {}
  const topology =
    kind === 'Service' && !(serviceTopology in own) ? { [serviceTopology]: rangeOfGroup } : {}
  const child = {
    ...content,
    ...dataOf(content['data'], stringData),
    apiVersion: String(apiVersion),
    kind: String(kind),
    metadata: {
      name,
      namespace: app.metadata.namespace,
      ...(labels === undefined ? {} : { labels }),
      annotations: { ...own, ...topology },
      ...(finalizers === undefined ? {} : { finalizers }),
      ownerReferences: [controllerReference(app)],
    },
  }
  // The server checks labels and annotations when the child is applied.
  return child as Child
}

/** Writes texts of a Secret as the server stores them, so that they can be compared. */
function dataOf(data: unknown, texts: unknown): JsonObject {
  if (!isJsonObject(texts)) return {}
  const encoded = Object.entries(texts).map(([key, value]) => [
    key,
    Buffer.from(String(value)).toString('base64'),
  ])
  return { data: { ...(isJsonObject(data) ? data : {}), ...Object.fromEntries(encoded) } }
}
