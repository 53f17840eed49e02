import type { Phase } from '../data/places/placed-application.ts'
import { inBoth, useTexts } from '../words/language.ts'
import { WordMark, type Tone } from './state-mark.tsx'

const tones: Readonly<Record<Phase, Tone>> = {
  Refused: 'bad',
  Edited: 'warn',
  Pending: 'away',
  Vanished: 'off',
  Waiting: 'off',
  Updating: 'busy',
  Ready: 'ok',
}

const both = inBoth({
  en: {
    Refused: 'Refused',
    Edited: 'Edited',
    Pending: 'Nodes away',
    Vanished: 'Vanished',
    Waiting: 'Waiting',
    Updating: 'Updating',
    Ready: 'Ready',
  },
  zh: {
    Refused: '被拒绝',
    Edited: '已被修改',
    Pending: '节点失联',
    Vanished: '已消失',
    Waiting: '等待中',
    Updating: '更新中',
    Ready: '就绪',
  },
})

/** How an application is in one of its places. */
export function PhaseMark({ phase }: { readonly phase: Phase }) {
  return <WordMark tone={tones[phase]}>{useTexts(both)[phase]}</WordMark>
}
