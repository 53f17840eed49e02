import { inBoth } from '../../words/language.ts'

export const texts = inBoth({
  en: { title: 'Objects of the hub' },
  zh: { title: '中心的对象' },
})
