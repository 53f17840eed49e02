import type { GroupVersionResource } from '@skerry/api'

/**
 * The settings that decide which built-in kinds a server has. Kinds that are not mentioned are as
 * upstream: stable versions are on.
 */
export interface KindSwitches {
  /** kube-apiserver's --runtime-config: `api/beta` or `<group>/<version>[/<resource>]` to true or false. */
  readonly runtimeConfig?: Readonly<Record<string, string>>
  /** Names of upstream's feature gates. Only those on which kinds depend are known. */
  readonly featureGates?: Readonly<Record<string, string>>
}

/** Beta kinds that need more than their version, because upstream's gate for each is off. */
const gates: Readonly<Record<string, readonly string[]>> = Object.freeze({
  ClusterTrustBundle: ['certificates.k8s.io/clustertrustbundles'],
  PodCertificateRequest: ['certificates.k8s.io/podcertificaterequests'],
  StorageVersionMigrator: ['storagemigration.k8s.io/storageversionmigrations'],
})

/** Later entries override earlier ones. */
const levels: readonly (readonly [key: string, has: (version: string) => boolean])[] = [
  ['api/all', () => true],
  ['api/ga', (version) => /^v\d+$/.test(version)],
  ['api/beta', (version) => /^v\d+beta\d+$/.test(version)],
]

/**
 * Returns a function that decides which kinds are served. Throws RangeError for keys and values
 * that kube-apiserver refuses, for kinds that are not built in, and for the core group, which is
 * indispensable.
 */
export function kindFilter(
  { runtimeConfig = {}, featureGates = {} }: KindSwitches,
  kinds: readonly GroupVersionResource[],
): (kind: GroupVersionResource) => boolean {
  const closed = closedResources(featureGates)
  const overrides = checkedOverrides(runtimeConfig, kinds)
  return ({ group, version, resource }) => {
    if (closed.has(`${group}/${resource}`)) return false
    let isServed = !version.includes('beta')
    for (const [key, has] of levels) if (has(version)) isServed = overrides.get(key) ?? isServed
    const ofVersion = overrides.get(`${group}/${version}`)
    return overrides.get(`${group}/${version}/${resource}`) ?? ofVersion ?? isServed
  }
}

/** Parses `a=b,c=d`; `a` alone is the same as `a=`. */
export function parseSwitches(text: string): Record<string, string> {
  const entries = text
    .split(',')
    .filter((part) => part.trim() !== '')
    .map((part): [string, string] => {
      const at = part.indexOf('=')
      return at < 0 ? [part.trim(), ''] : [part.slice(0, at).trim(), part.slice(at + 1).trim()]
    })
  return Object.fromEntries(entries)
}

function closedResources(featureGates: Readonly<Record<string, string>>): ReadonlySet<string> {
  for (const name of Object.keys(featureGates)) {
    if (gates[name]) continue
    const known = Object.keys(gates).join(', ')
    throw new RangeError(`Cannot set feature gates: ${name} is not one of ${known}`)
  }
  const isOpen = (name: string): boolean =>
    name in featureGates && booleanOf(`feature gate ${name}`, featureGates[name] ?? '')
  return new Set(Object.entries(gates).flatMap(([name, of]) => (isOpen(name) ? [] : of)))
}

function checkedOverrides(
  config: Readonly<Record<string, string>>,
  kinds: readonly GroupVersionResource[],
): ReadonlyMap<string, boolean> {
  const keys = Object.keys(config)
  if (keys.length === 1 && config['api/all'] === 'false') {
    throw new RangeError('Cannot use --runtime-config: api/all=false alone leaves nothing to serve')
  }
  return new Map(
    keys.map((key): [string, boolean] => {
      checkKey(key, kinds)
      const value = config[key] ?? ''
      return [key, isLevel(key) ? exactBoolean(key, value) : booleanOf(key, value)]
    }),
  )
}

function isLevel(key: string): boolean {
  return levels.some(([level]) => level === key)
}

function checkKey(key: string, kinds: readonly GroupVersionResource[]): void {
  if (isLevel(key)) return
  const refuse = (why: string): never => {
    throw new RangeError(`Cannot use --runtime-config ${key}: ${why}`)
  }
  const [group = '', version = '', resource, ...more] = key.split('/')
  if (version.includes('alpha') || key === 'api/alpha') refuse('alpha versions are not built in')
  if (version === '' || more.length > 0) refuse('a key is <group>/<version>[/<resource>]')
  if (group === '') refuse('the core group is always served')
  const ofGroup = kinds.filter((kind) => kind.group === group)
  if (ofGroup.length === 0) refuse(`there is no API group ${group}`)
  if (!ofGroup.some((kind) => kind.version === version)) {
    refuse(`the group ${group} has no version ${version}`)
  }
  if (resource !== undefined && resource !== resource.toLowerCase()) {
    refuse('a resource is a plural in lower case')
  }
}

function exactBoolean(key: string, value: string): boolean {
  if (value === 'true' || value === 'false') return value === 'true'
  throw new RangeError(`Cannot use ${key}=${value}: the value is true or false`)
}

/** Reads a boolean as Go does; an empty text is true. */
function booleanOf(key: string, value: string): boolean {
  if (['', '1', 't', 'T', 'true', 'TRUE', 'True'].includes(value)) return true
  if (['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(value)) return false
  throw new RangeError(`Cannot use ${key}=${value}: the value is true or false`)
}
