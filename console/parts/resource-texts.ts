import { inBoth } from '../words/language.ts'

export const resourceTexts = inBoth({
  en: {
    namespace: 'Namespace',
    allNamespaces: 'all',
    filter: 'Filter',
    empty: (resource: string) => `There are no ${resource} here`,
  },
  zh: {
    namespace: '命名空间',
    allNamespaces: '全部',
    filter: '筛选',
    empty: (resource: string) => `此处没有 ${resource}`,
  },
})
