/** The words for labels, taints, and the API on a node. */
import { isIPv4 } from 'node:net'
import { InvalidArgumentError, Option } from 'commander'
import { checkLabelValue, checkQualifiedName } from '@skerry/api'
import type { KeptScope } from '@skerry/node-api'

export interface TaintFlag {
  key: string
  value?: string
  effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'
}

const effects: readonly TaintFlag['effect'][] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

/** Adds a taint, `<key>[=<value>]:<effect>` as kubelets and kubectl write it, to those before. */
export function collectTaint(text: string, previous: readonly TaintFlag[]): TaintFlag[] {
  const [, key = '', value, named = ''] = /^([^=:]+)(?:=([^:]*))?:(.+)$/.exec(text) ?? []
  const effect = effects.find((each) => each === named)
  const odd = [...checkQualifiedName(key), ...checkLabelValue(value ?? '')]
  if (key === '' || effect === undefined || odd.length > 0) {
    const why = key === '' || effect === undefined ? '' : `: ${odd.join('; ')}`
    const form = `a taint is <key>=<value>:<effect> or <key>:<effect>, with one of ${effects.join(', ')}`
    throw new InvalidArgumentError(`${form}${why}`)
  }
  if (previous.some((each) => each.key === key && each.effect === effect)) {
    throw new InvalidArgumentError(`there is a taint ${key}:${effect} already`)
  }
  return [...previous, { key, ...(value ? { value } : {}), effect }]
}

/** Adds a label to those before. */
export function collectLabel(
  text: string,
  previous: Record<string, string>,
): Record<string, string> {
  const [, key, value] = /^([^=]+)=([^=]*)$/.exec(text) ?? []
  if (key === undefined || value === undefined) {
    throw new InvalidArgumentError('a label is <key>=<value>, e.g. link=lte')
  }
  return { ...previous, [key]: value }
}

/** The label by which nodes find their neighbours. The site and its nodes need the same one. */
export function neighboursOption(description: string): Option {
  return new Option('--neighbours-by <label>', description).argParser(toLabelKey)
}

function toLabelKey(text: string): string {
  const odd = checkQualifiedName(text)
  if (odd.length === 0) return text
  const form = 'give the key of a label, e.g. topology.kubernetes.io/zone'
  throw new InvalidArgumentError(`${form}: ${odd.join('; ')}`)
}

/** Parses an address that means each machine itself, so that a certificate for it proves nothing to others. */
export function toLinkLocal(text: string): string {
  if (isIPv4(text) && text.startsWith('169.254.')) return text
  throw new InvalidArgumentError('give an IPv4 address from 169.254.0.0/16, e.g. 169.254.20.11')
}

const keptForm = /^([a-z0-9]+)(?:\.([a-z0-9.-]+))?(?:\/([a-z0-9](?:[a-z0-9-]*[a-z0-9])?))?$/

/** Adds `configmaps`, `configmaps/shop` or `deployments.apps/shop` to those before. */
export function collectKept(text: string, previous: readonly KeptScope[]): readonly KeptScope[] {
  const [, resource, group = '', namespace = ''] = keptForm.exec(text) ?? []
  if (resource !== undefined) return [...previous, { resource, group, namespace }]
  throw new InvalidArgumentError('give e.g. configmaps, configmaps/shop or deployments.apps/shop')
}
