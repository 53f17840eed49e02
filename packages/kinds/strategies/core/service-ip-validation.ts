import {
  fieldDuplicate,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type ServiceSpec,
} from '@skerry/api'
import { checkOneOf, type Found } from '../checks.ts'
import { checkIp, isIpv6, isOnePerFamily, ipOf } from '../ip-text.ts'
import type { Loose } from '../typed-strategy.ts'

type Spec = Loose<ServiceSpec>

const field = 'spec.clusterIPs'
const families = ['IPv4', 'IPv6']

export function isHeadless(spec: Spec): boolean {
  return spec.clusterIPs?.length === 1 && spec.clusterIPs[0] === 'None'
}

export function checkClusterIps(spec: Spec, found: Found): void {
  if (spec.type === 'ExternalName') return
  const { clusterIP = '', clusterIPs = [] } = spec
  if (clusterIP && clusterIPs.length === 0) {
    found.push(fieldRequired(field))
  } else if (clusterIP && clusterIPs[0] !== clusterIP) {
    found.push(fieldInvalid(field, clusterIPs, 'first value must match `clusterIP`'))
  } else if (!clusterIP && clusterIPs.length > 0) {
    const detail = 'must be empty when `clusterIP` is not specified'
    found.push(fieldInvalid(field, clusterIPs, detail))
  }
  checkFamilies(spec, found)
  if (checkAddresses(clusterIPs, found)) checkAgainstFamilies(spec, found)
}

function checkFamilies(spec: Spec, found: Found): void {
  const seen = new Set<string>()
  for (const [at, family] of (spec.ipFamilies ?? []).entries()) {
    const path = `spec.ipFamilies[${at}]`
    if (!families.includes(family)) found.push(fieldNotSupported(path, family, families))
    if (seen.has(family)) found.push(fieldDuplicate(path, family))
    seen.add(family)
  }
  const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack']
  checkOneOf(spec.ipFamilyPolicy, policies, 'spec.ipFamilyPolicy', found)
}

function checkAddresses(clusterIPs: readonly string[], found: Found): boolean {
  let areValid = true
  for (const [at, ip] of clusterIPs.entries()) {
    if (at === 0 && ip === 'None') {
      if (clusterIPs.length === 1) continue
      areValid = false
      found.push(fieldInvalid(field, clusterIPs, "'None' must be the first and only value"))
    } else if (!checkIp(ip, `${field}[${at}]`, found)) {
      areValid = false
    }
  }
  if (clusterIPs.length > 2) {
    found.push(fieldInvalid(field, clusterIPs, 'may only hold up to 2 values'))
  }
  return areValid
}

function checkAgainstFamilies(spec: Spec, found: Found): void {
  const { clusterIPs = [], ipFamilies = [] } = spec
  if (clusterIPs.length > 1 && !isOnePerFamily(clusterIPs.slice(0, 2).map(ipOf))) {
    const detail = 'may specify no more than one IP for each IP family'
    found.push(fieldInvalid(field, clusterIPs, detail))
  }
  if (isHeadless(spec)) return
  for (const [at, ip] of clusterIPs.entries()) {
    const family = ipFamilies[at]
    if (family === undefined || family === (isIpv6(ip) ? 'IPv6' : 'IPv4')) continue
    const detail = `expected an ${family} value as indicated by \`ipFamilies[${at}]\``
    found.push(fieldInvalid(`${field}[${at}]`, ip, detail))
  }
}

/** The addresses that clients know are fixed; a second one may be added or removed. */
export function checkClusterIpUpdate(next: Spec, old: Spec, found: Found): void {
  if (next.type === 'ExternalName' || old.type === 'ExternalName') return
  if (!(isHeadless(next) && isHeadless(old))) {
    checkListUpdate({
      next: next.clusterIPs ?? [],
      old: old.clusterIPs ?? [],
      name: 'clusterIP',
      path: field,
      policy: next.ipFamilyPolicy,
      found,
    })
  }
  if (isHeadless(next) || isHeadless(old)) return
  checkListUpdate({
    next: next.ipFamilies ?? [],
    old: old.ipFamilies ?? [],
    name: 'ipFamily',
    path: 'spec.ipFamilies',
    policy: next.ipFamilyPolicy,
    found,
  })
}

interface ListUpdate {
  next: readonly string[]
  old: readonly string[]
  name: 'clusterIP' | 'ipFamily'
  path: string
  policy: string | undefined
  found: Found
}

function checkListUpdate({ next, old, name, path, policy, found }: ListUpdate): void {
  const fixed = 'may not change once set'
  if (old.length === next.length) {
    for (const [at, value] of old.entries()) {
      if (value === next[at]) continue
      const place = name === 'clusterIP' ? at : 0
      found.push(fieldInvalid(`${path}[${place}]`, next, fixed))
    }
    return
  }
  if (next.length === 0) {
    found.push(fieldInvalid(`${path}[0]`, next, `primary ${name} can not be unset`))
  } else if (old.length > 0 && next[0] !== old[0]) {
    found.push(fieldInvalid(`${path}[0]`, next, fixed))
  }
  if (old.length > next.length && next.length === 1 && policy !== 'SingleStack') {
    const detail = `must be set to 'SingleStack' when releasing the secondary ${name}`
    found.push(fieldInvalid('spec.ipFamilyPolicy', policy ?? null, detail))
  }
}
