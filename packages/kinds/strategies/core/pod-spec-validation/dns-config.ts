import { fieldInvalid, fieldRequired, type PodSpec } from '@skerry/api'
import type { Found } from '../../checks.ts'
import { checkIp } from '../../ip-text.ts'
import type { Loose } from '../../typed-strategy.ts'
import { kindsBounds } from '../../../limits-table.ts'

const limits = kindsBounds.dnsConfig

export function checkDnsConfig(spec: Loose<PodSpec>, path: string, found: Found): void {
  const { dnsConfig, dnsPolicy } = spec
  if (dnsPolicy === 'None' && !dnsConfig) {
    found.push(fieldRequired(path, 'must provide `dnsConfig` when `dnsPolicy` is None'))
  }
  if (!dnsConfig) return
  const { nameservers = [], searches = [], options = [] } = dnsConfig
  if (dnsPolicy === 'None' && nameservers.length === 0) {
    const detail = 'must provide at least one DNS nameserver when `dnsPolicy` is None'
    found.push(fieldRequired(`${path}.nameservers`, detail))
    return
  }
  if (nameservers.length > limits.nameservers) {
    const detail = `must not have more than ${limits.nameservers} nameservers`
    found.push(fieldInvalid(`${path}.nameservers`, nameservers, detail))
  }
  for (const [at, address] of nameservers.entries()) {
    checkIp(address, `${path}.nameservers[${at}]`, found)
  }
  checkSearches(searches, `${path}.searches`, found)
  for (const [at, option] of options.entries()) {
    if (!option.name) found.push(fieldRequired(`${path}.options[${at}]`, 'must not be empty'))
  }
}

const label = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const searchFormat = `${label}(\\.${label})*`
const searchPattern = new RegExp(`^${searchFormat}$`)

function checkSearches(searches: readonly string[], field: string, found: Found): void {
  if (searches.length > limits.searches) {
    const detail = `must not have more than ${limits.searches} search paths`
    found.push(fieldInvalid(field, searches, detail))
  }
  if (searches.join(' ').length > limits.searchCharacters) {
    const detail = `must not have more than ${limits.searchCharacters} characters (including spaces) in the search list`
    found.push(fieldInvalid(field, searches, detail))
  }
  for (const [at, search] of searches.entries()) {
    const name = search.endsWith('.') ? search.slice(0, -1) : search
    if (search === '.' || searchPattern.test(name)) continue
    const detail = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${searchFormat}')`
    found.push(fieldInvalid(`${field}[${at}]`, name, detail))
  }
}
