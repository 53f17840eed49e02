import { defaultColumns } from './columns/column.ts'
import { columns } from './columns/column-table.ts'
import { kindFilter, type KindSwitches } from './kind-switches.ts'
import type { Kind, Subresource, SchemaSet } from '@skerry/api'
import { selectableFields } from './selectable-field-table.ts'
import { strategies } from './strategy-table.ts'

export interface BuiltinKindsOptions {
  /** Selects the kinds of a server with these switches, in place of the stable ones. */
  readonly switches?: KindSwitches
  /** Adds the beta versions, which upstream's servers have off by default. Default: false. */
  readonly includeBeta?: boolean
}

/** One entry of generated/kinds.json. */
interface KindFact {
  group: string
  version: string
  kind: string
  resource: string
  singular: string
  isNamespaced: boolean
  shortNames?: string[]
  categories?: string[]
  verbs: string[]
  subresources?: SubresourceFact[]
  schemaName: string
  storageVersion: string
  storageGroup?: string
  storageVersionHash?: string
  returnsDeletedObject?: boolean
}

interface SubresourceFact {
  name: string
  group: string
  version: string
  kind: string
  verbs: string[]
  schemaName?: string
}

/** Kinds with a scale subresource have their replicas in the same fields. */
const builtinScale = Object.freeze({
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.spec.selector',
})

const deviceKinds = ['DeviceClass', 'ResourceClaim', 'ResourceClaimTemplate', 'ResourceSlice']

/** Keyed `group/Kind`, or `group/version/Kind` if a newer version is the better one. */
const deprecations: Readonly<Record<string, string>> = Object.freeze({
  '/ComponentStatus': 'v1 ComponentStatus is deprecated in v1.19+',
  '/Endpoints': 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  ...endOfBeta('coordination.k8s.io/v1beta1', ['LeaseCandidate'], '1.36', '1.39'),
  ...endOfBeta('networking.k8s.io/v1beta1', ['IPAddress', 'ServiceCIDR'], '1.34', '1.37'),
  ...endOfBeta('resource.k8s.io/v1beta1', deviceKinds, '1.35', '1.38'),
  ...endOfBeta('resource.k8s.io/v1beta2', deviceKinds, '1.36', '1.39'),
  'storage.k8s.io/v1beta1/VolumeAttributesClass':
    'storage.k8s.io/v1beta1 VolumeAttributesClass is deprecated in v1.34+, unavailable in v1.37+; use storage.k8s.io/v1 VolumeAttributesClass',
})

/** Upstream's deprecation warnings of these name no other version. */
function endOfBeta(
  apiVersion: string,
  kinds: readonly string[],
  deprecated: string,
  removed: string,
): Record<string, string> {
  const text = `is deprecated in v${deprecated}+, unavailable in v${removed}+`
  return Object.fromEntries(
    kinds.map((kind) => [`${apiVersion}/${kind}`, `${apiVersion} ${kind} ${text}`]),
  )
}

const strategyOfNone = Object.freeze({})

let stableKinds: Promise<readonly Kind[]> | undefined
let allKinds: Promise<readonly Kind[]> | undefined

/**
 * Returns every kind that Kubernetes 1.36 has built in, in discovery's order: core first, then
 * group by group with the preferred version first. The facts are loaded at the first call and
 * shared by all callers (1 MB of heap), so that programs that serve no API do not pay for them.
 */
export function builtinKinds(options: BuiltinKindsOptions = {}): Promise<readonly Kind[]> {
  if (options.switches) return loadSwitchedKinds(options.switches)
  if (options.includeBeta) return (allKinds ??= loadAllKinds())
  return (stableKinds ??= loadStableKinds())
}

async function loadStableKinds(): Promise<readonly Kind[]> {
  const [facts, schemas] = await Promise.all([loadFacts(), loadSchemas()])
  return facts
    .filter(({ version }) => !version.includes('beta'))
    .map((fact) => kindOf(fact, schemas))
}

async function loadAllKinds(): Promise<readonly Kind[]> {
  const [facts, stable, beta] = await Promise.all([loadFacts(), loadSchemas(), loadBetaSchemas()])
  const schemas = { ...stable, ...beta }
  return facts.map((fact) => kindOf(fact, schemas))
}

async function loadSwitchedKinds(switches: KindSwitches): Promise<readonly Kind[]> {
  const facts = await loadFacts()
  const isServed = kindFilter(switches, facts)
  const hasBeta = facts.some((fact) => fact.version.includes('beta') && isServed(fact))
  return (await builtinKinds({ includeBeta: hasBeta })).filter(isServed)
}

async function loadFacts(): Promise<readonly KindFact[]> {
  const { default: facts } = await import('./generated/kinds.json', { with: { type: 'json' } })
  return facts.kinds
}

async function loadSchemas(): Promise<SchemaSet> {
  const { default: schemas } = await import('./generated/schema.json', { with: { type: 'json' } })
  // dev/hack/generate-api writes the file from one value of this type; the compiler widens its literals.
  return schemas as unknown as SchemaSet
}

async function loadBetaSchemas(): Promise<SchemaSet> {
  const { default: schemas } = await import('./generated/schema-beta.json', {
    with: { type: 'json' },
  })
  // dev/hack/generate-api writes the file from one value of this type; the compiler widens its literals.
  return schemas as unknown as SchemaSet
}

function kindOf(fact: KindFact, schemas: SchemaSet): Kind {
  const {
    storageGroup,
    storageVersionHash,
    shortNames = [],
    categories = [],
    subresources = [],
    ...same
  } = fact
  const key = `${fact.group}/${fact.kind}`
  const versioned = `${fact.group}/${fact.version}/${fact.kind}`
  const deprecation = deprecations[versioned] ?? deprecations[key]
  return {
    ...same,
    ...(deprecation === undefined ? {} : { deprecation }),
    ...(storageGroup === undefined ? {} : { storageGroup }),
    ...(storageVersionHash === undefined ? {} : { storageVersionHash }),
    listKind: `${fact.kind}List`,
    shortNames,
    categories,
    subresources: subresources.map(subresourceOf),
    schemas,
    selectableFields: selectableFields[key] ?? [],
    columns: columns[key] ?? defaultColumns,
    strategy: strategies[versioned] ?? strategies[key] ?? strategyOfNone,
  }
}

function subresourceOf(fact: SubresourceFact): Subresource {
  const { group, version, kind, ...same } = fact
  const subresource = { ...same, kind: { group, version, kind } }
  return fact.name === 'scale' ? { ...subresource, scale: builtinScale } : subresource
}
