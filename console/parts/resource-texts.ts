import { inBoth } from '../words/language.ts'

export const resourceTexts = inBoth({
  en: {
    kind: 'Kind',
    namespace: 'Namespace',
    allNamespaces: 'all',
    filter: 'Filter',
    noKinds: 'The server names no kinds',
    empty: (resource: string) => `There are no ${resource} here`,
    emptyHint: 'Whatever is made appears by itself, such as with',
  },
  zh: {
    kind: '类型',
    namespace: '命名空间',
    allNamespaces: '全部',
    filter: '筛选',
    noKinds: '服务器没有列出任何类型',
    empty: (resource: string) => `此处没有 ${resource}`,
    emptyHint: '新建的对象会自动出现，例如通过',
  },
})
