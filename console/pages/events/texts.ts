import { inBoth } from '../../words/language.ts'

export const texts = inBoth({
  en: { title: 'Events', of: 'Of', hub: 'the hub' },
  zh: { title: '事件', of: '来源', hub: '中心' },
})
