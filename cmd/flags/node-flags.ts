/** The words for labels and taints. */
import { InvalidArgumentError } from 'commander'
import { checkLabelValue, checkQualifiedName } from '@skerry/api'

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
