import type { Standing } from '../data/fleet/explanation.ts'
import { inBoth, useTexts } from '../words/language.ts'
import { WordMark, type Tone } from './state-mark.tsx'

const tones: Readonly<Record<Standing, Tone>> = {
  Healthy: 'ok',
  Unhealthy: 'warn',
  Failed: 'bad',
  Waiting: 'busy',
  Held: 'off',
  Suspended: 'off',
  Away: 'away',
  NotPlaced: 'off',
}

const both = inBoth({
  en: {
    Healthy: 'Healthy',
    Unhealthy: 'Unhealthy',
    Failed: 'Failed',
    Waiting: 'Waiting',
    Held: 'Held back',
    Suspended: 'Suspended',
    Away: 'Away',
    NotPlaced: 'Not placed',
  },
  zh: {
    Healthy: '健康',
    Unhealthy: '不健康',
    Failed: '失败',
    Waiting: '等待中',
    Held: '尚未轮到',
    Suspended: '已暂停',
    Away: '失联',
    NotPlaced: '未放置',
  },
})

interface StandingMarkProps {
  readonly standing: Standing
  /** How many clusters have it, in front of the word. */
  readonly count?: number
}

/** How an object is in a cluster. */
export function StandingMark({ standing, count }: StandingMarkProps) {
  const word = useTexts(both)[standing]
  return (
    <WordMark tone={tones[standing]}>{count === undefined ? word : `${count} ${word}`}</WordMark>
  )
}
