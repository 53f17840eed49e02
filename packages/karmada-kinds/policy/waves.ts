import {
  StatusError,
  fieldInvalid,
  parseLabelSelector,
  type KubeObject,
  type LabelSelector,
  type StatusCause,
} from '@skerry/api'

/**
 * Annotations of a policy. The first has waves, apart by semicolons: a label selector of clusters, or a
 * share of all clusters as `10%`, counted with the waves before it. What is left is the last wave.
 */
export const waveKeys = Object.freeze({
  waves: 'hub.skerry.io/waves',
  /** How many percent of a wave's present clusters must be well before the next one; default 100. */
  healthyPercent: 'hub.skerry.io/wave-healthy-percent',
})

export interface Waves {
  readonly waves: readonly Wave[]
  /** 1 to 100. */
  readonly healthyPercent: number
}

export interface Wave {
  /** As it is written; of the last one `rest`. */
  readonly name: string
  /** One of the two; of neither is the rest. */
  readonly selector?: LabelSelector
  /** 1 to 100, of all clusters. */
  readonly percent?: number
}

const wavesMax = 32
const charactersMax = 4_096

/** Undefined of a policy that has none: all clusters at once. Throws RangeError for what cannot be read. */
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

/** Of a policy that is to be written: what of its waves cannot be read. */
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
  throw new RangeError(`Cannot read annotation ${key}: "${text}" is no number from 1 to 100`)
}

function unreadable(why: string, cause?: Error): RangeError {
  return new RangeError(`Cannot read annotation ${waveKeys.waves}: ${why}`, { cause })
}
