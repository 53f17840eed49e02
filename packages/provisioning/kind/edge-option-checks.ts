import { isIP } from 'node:net'
import {
  checkDnsSubdomain,
  fieldDuplicate,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type StatusCause,
} from '@skerry/api'
import { edgeClusterBounds, provisioningBounds } from '../limits-table.ts'
import { whyBehindRange } from './network-checks.ts'
import type { EdgeClusterSpec, EdgeNetwork } from './edge-cluster.ts'
import type { AddOn, EdgeOptions, EdgeProxy, RegistryMirror } from './edge-options.ts'

const { addOnsMax, endpointsMax, noProxyMax, registriesMax } = edgeClusterBounds
const { machinesAtOnceMax } = provisioningBounds.engine

/** Returns everything that is wrong with the further fields of a spec, each with its field. */
export function optionCauses({
  network,
  mode,
  machinesAtOnce,
  version,
  proxy,
  registries = [],
  addons = [],
}: EdgeOptions & Pick<EdgeClusterSpec, 'network'>): StatusCause[] {
  const causes: StatusCause[] = []
  if (mode !== undefined && !['Make', 'Check'].includes(mode)) {
    causes.push(fieldNotSupported('spec.mode', mode, ['Make', 'Check']))
  }
  if (
    machinesAtOnce !== undefined &&
    !(machinesAtOnce >= 1 && machinesAtOnce <= machinesAtOnceMax)
  ) {
    const why = `must be from 1 to ${machinesAtOnceMax}`
    causes.push(fieldInvalid('spec.machinesAtOnce', machinesAtOnce, why))
  }
  if (version !== undefined && !/^\w[\w.+-]{0,63}$/.test(version)) {
    causes.push(fieldInvalid('spec.version', version, 'must be a version such as 0.1.0'))
  }
  if (proxy !== undefined) causes.push(...proxyCauses(proxy, network))
  causes.push(...tooMany('spec.registries', registries, registriesMax))
  causes.push(...tooMany('spec.addons', addons, addOnsMax))
  const shown = registries.slice(0, registriesMax)
  causes.push(...shown.flatMap((each, at) => mirrorCauses(`spec.registries[${at}]`, each)))
  causes.push(
    ...twice(
      'spec.registries',
      shown.map(({ host }) => host),
    ),
  )
  const applied = addons.slice(0, addOnsMax)
  causes.push(...applied.flatMap((each, at) => addOnCauses(`spec.addons[${at}]`, each)))
  causes.push(
    ...twice(
      'spec.addons',
      applied.map(({ configMap, key }) => `${configMap}/${key}`),
    ),
  )
  return causes
}

function tooMany(field: string, list: readonly unknown[], max: number): StatusCause[] {
  return list.length <= max
    ? []
    : [fieldInvalid(field, list.length, `must be at most ${max} items`)]
}

function twice(field: string, names: readonly string[]): StatusCause[] {
  const seen = new Set<string>()
  return names.flatMap((name) => {
    if (!seen.has(name)) {
      seen.add(name)
      return []
    }
    return [fieldDuplicate(field, name)]
  })
}

function proxyCauses(
  { httpProxy, httpsProxy, noProxy = [], credentials }: EdgeProxy,
  network: EdgeNetwork | undefined,
): StatusCause[] {
  const causes: StatusCause[] = []
  if (httpProxy === undefined && httpsProxy === undefined) {
    causes.push(fieldRequired('spec.proxy', 'httpProxy or httpsProxy must be set'))
  }
  for (const [name, url] of [
    ['httpProxy', httpProxy],
    ['httpsProxy', httpsProxy],
  ] as const) {
    if (url === undefined) continue
    const why = whyNoProxy(url) ?? whyBehindRange({ ...(network && { network }) }, url)
    // The value is not shown: it may hold a password.
    if (why !== undefined) causes.push(fieldInvalid(`spec.proxy.${name}`, '[not shown]', why))
  }
  causes.push(...tooMany('spec.proxy.noProxy', noProxy, noProxyMax))
  for (const [at, entry] of noProxy.slice(0, noProxyMax).entries()) {
    if (isBypass(entry)) continue
    const why = 'must be an address, a range such as 10.0.0.0/8, or a domain such as .example.com'
    causes.push(fieldInvalid(`spec.proxy.noProxy[${at}]`, entry, why))
  }
  if (credentials !== undefined) {
    const name = credentials.name ?? ''
    if (name === '') causes.push(fieldRequired('spec.proxy.credentials.name'))
    else {
      const why = checkDnsSubdomain(name)
      causes.push(...why.map((each) => fieldInvalid('spec.proxy.credentials.name', name, each)))
    }
  }
  return causes
}

function whyNoProxy(text: string): string | undefined {
  if (text.includes('@')) {
    return 'must not contain a user or password: put them into a Secret, and name it in spec.proxy.credentials'
  }
  const isPlain = /^https?:\/\/[a-z0-9]([-a-z0-9.]*[a-z0-9])?(:\d{1,5})?\/?$/i.test(text)
  return isPlain && isPort(text)
    ? undefined
    : 'must be http://<host>[:<port>] or https://<host>[:<port>]'
}

function isPort(url: string): boolean {
  return URL.canParse(url)
}

function isBypass(entry: string): boolean {
  const [address = '', bits, more] = entry.split('/')
  if (bits !== undefined) {
    const most = isIP(address) === 4 ? 32 : 128
    return (
      isIP(address) !== 0 && more === undefined && /^\d{1,3}$/.test(bits) && Number(bits) <= most
    )
  }
  if (isIP(entry) !== 0) return true
  return /^(\*?\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(:\d{1,5})?$/i.test(
    entry,
  )
}

function mirrorCauses(
  field: string,
  { host, endpoints = [] }: Partial<RegistryMirror>,
): StatusCause[] {
  const causes: StatusCause[] = []
  if (host === undefined || host === '') causes.push(fieldRequired(`${field}.host`))
  else if (host !== '*' && !isHost(host)) {
    const why =
      'must be a registry such as docker.io or registry.example:5000, or * for every other one'
    causes.push(fieldInvalid(`${field}.host`, host, why))
  }
  if (endpoints.length === 0) causes.push(fieldRequired(`${field}.endpoints`))
  causes.push(...tooMany(`${field}.endpoints`, endpoints, endpointsMax))
  for (const [at, url] of endpoints.slice(0, endpointsMax).entries()) {
    if (isEndpoint(url)) continue
    const why = 'must be http(s)://<host>[:<port>][/<path>] without user, password and query'
    causes.push(fieldInvalid(`${field}.endpoints[${at}]`, url.replace(/^.*@/, ''), why))
  }
  return causes
}

function isHost(host: string): boolean {
  return /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(:\d{1,5})?$/.test(host)
}

function isEndpoint(text: string): boolean {
  const [, host = ''] = /^https?:\/\/([^/]+)(\/[\w./-]*)?$/.exec(text) ?? []
  return host !== '' && isHost(host) && URL.canParse(text)
}

function addOnCauses(field: string, { configMap = '', key = '' }: Partial<AddOn>): StatusCause[] {
  const causes: StatusCause[] = []
  if (configMap === '') causes.push(fieldRequired(`${field}.configMap`))
  else {
    const why = checkDnsSubdomain(configMap)
    causes.push(...why.map((each) => fieldInvalid(`${field}.configMap`, configMap, each)))
  }
  if (key === '') causes.push(fieldRequired(`${field}.key`))
  else if (!/^[-._a-zA-Z0-9]{1,253}$/.test(key)) {
    causes.push(fieldInvalid(`${field}.key`, key, 'must be a key of a ConfigMap'))
  }
  return causes
}
