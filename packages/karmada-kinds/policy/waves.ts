import {
  StatusError,
  fieldInvalid,
  parseLabelSelector,
  type KubeObject,
  type LabelSelector,
  type StatusCause,
} from '@skerry/api'
import { karmadaKindsBounds } from '../limits-table.ts'

/**
 * Annotations of a policy. The first lists the waves, separated by semicolons: a label selector of clusters,
 * or a share of all clusters such as `10%`, which includes the waves before it. The remaining clusters are
 * the last wave.
 */
export const waveKeys = Object.freeze({
  waves: 'hub.skerry.io/waves',
  /** The percentage of a wave's present clusters that must be healthy before the next wave opens; default 100. */
  healthyPercent: 'hub.skerry.io/wave-healthy-percent',
})

export interface Waves {
  readonly waves: readonly Wave[]
  /** 1 to 100. */
  readonly healthyPercent: number
}

export interface Wave {
  /** The wave as written; `rest` for the last one. */
  readonly name: string
  /** Either this or the share is set; neither is for the rest. */
  readonly selector?: LabelSelector
  /** 1 to 100, of all clusters. */
  readonly percent?: number
}

const { wavesMax, charactersMax } = karmadaKindsBounds.waves

/**
 * Returns the waves; undefined for a policy without any, which goes to all clusters at once. Throws
 * RangeError for invalid annotations.
 */
export function wavesOf({ metadata }: KubeObject): Waves | undefined {
  const text = metadata.annotations?.[waveKeys.waves]?.trim() ?? ''
  if (text === '') return undefined
  const parts = text.split(';').map((part) => part.trim())
  if (text.length > charactersMax || parts.length > wavesMax) {
    throw unreadable(`it has more than ${wavesMax} waves or ${charactersMax} characters`)
  }
  const percent = metadata.annotations?.[waveKeys.healthyPercent]
  return {
    waves: [...parts.map(parseWave), { name: 'rest' }],
    healthyPercent: percent === undefined ? 100 : readPercent(percent, waveKeys.healthyPercent),
  }
}

/** Returns the errors in the waves of a policy that is about to be written. */
export function waveCauses(policy: KubeObject): StatusCause[] {
  try {
    wavesOf(policy)
    return []
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const value = policy.metadata.annotations?.[waveKeys.waves]
    return [fieldInvalid('metadata.annotations', value, error.message)]
  }
}

function parseWave(name: string): Wave {
  if (name === '') throw unreadable('a wave is empty')
  if (name.endsWith('%')) return { name, percent: readPercent(name.slice(0, -1), waveKeys.waves) }
  try {
    return { name, selector: parseLabelSelector(name) }
  } catch (error) {
    if (error instanceof StatusError) throw unreadable(error.message, error)
    throw error
  }
}

function readPercent(text: string, key: string): number {
  const percent = /^[0-9]{1,3}$/.test(text.trim()) ? Number(text) : Number.NaN
  if (percent >= 1 && percent <= 100) return percent
  throw new RangeError(`Cannot read annotation ${key}: "${text}" is not a number from 1 to 100`)
}

function unreadable(why: string, cause?: Error): RangeError {
  return new RangeError(`Cannot read annotation ${waveKeys.waves}: ${why}`, { cause })
}
