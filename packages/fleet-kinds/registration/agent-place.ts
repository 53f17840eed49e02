import { fieldInvalid, validateLabels, type StatusCause } from '@skerry/api'
import { agentLimits } from '../limits-table.ts'

/** The place of a cluster, which an agent reports for the Cluster object. Omitted fields are not reported. */
export interface AgentPlace {
  /** The operator of the place. */
  provider?: string
  region?: string
  zones?: string[]
  /** The labels of the Cluster. */
  labels?: Record<string, string>
}

/**
 * Checks a registration's spec, so that values which the hub would not accept from the agent are refused
 * before they are printed.
 */
export function placeCauses({ provider, region, zones = [], labels }: AgentPlace): StatusCause[] {
  const texts: [field: string, text: string][] = [
    ...(provider === undefined ? [] : [['provider', provider] satisfies [string, string]]),
    ...(region === undefined ? [] : [['region', region] satisfies [string, string]]),
    ...zones.map((zone, at): [string, string] => [`zones[${at}]`, zone]),
  ]
  const { textCharsMax, zonesMax, labelsMax } = agentLimits
  const isPlain = (text: string): boolean =>
    text !== '' && text.length <= textCharsMax && !/[\p{Cc}\p{Cf}]/u.test(text)
  const causes = texts
    .filter(([, text]) => !isPlain(text))
    .map(([field, text]) =>
      fieldInvalid(`spec.${field}`, text, `must have 1 to ${textCharsMax} printable characters`),
    )
  if (zones.length > zonesMax) {
    causes.push(fieldInvalid('spec.zones', zones.length, `must be ${zonesMax} at most`))
  }
  const keys = Object.keys(labels ?? {})
  if (keys.length > labelsMax) {
    causes.push(fieldInvalid('spec.labels', keys.length, `must be ${labelsMax} at most`))
  }
  const own = keys.find((key) => key.startsWith('hub.skerry.io/'))
  if (own !== undefined) {
    causes.push(fieldInvalid('spec.labels', own, 'hub.skerry.io/ is for the operator of the hub'))
  }
  return [...causes, ...validateLabels(labels, 'spec.labels')]
}

/** Returns the flags of `skerry agent`. */
export function placeArguments({
  provider,
  region,
  zones = [],
  labels = {},
}: AgentPlace): string[] {
  return [
    ...(provider === undefined ? [] : [`--provider=${provider}`]),
    ...(region === undefined ? [] : [`--region=${region}`]),
    ...zones.map((zone) => `--zone=${zone}`),
    ...Object.entries(labels).map(([key, value]) => `--label=${key}=${value}`),
  ]
}
