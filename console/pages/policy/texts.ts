import { inBoth } from '../../words/language.ts'

export const texts = inBoth({
  en: {
    policies: 'Policies',
    noPolicy: (name: string) => `The hub has no policy “${name}”`,
    tabs: { preview: 'Clusters', objects: 'Objects', yaml: 'YAML' },
    previewHint:
      'The hub’s scheduler answers as for a new object. Objects that are placed already move only if they must.',
    replicas: 'Replicas to divide',
    noReplicas: 'none',
    noObjects: 'The policy has claimed no object yet',
    scope: 'Objects',
    namespaced: 'in namespaces',
    wide: 'without a namespace',
  },
  zh: {
    policies: '策略',
    noPolicy: (name: string) => `中心没有策略“${name}”`,
    tabs: { preview: '集群', objects: '对象', yaml: 'YAML' },
    previewHint: '由中心的调度器按新对象作答。已放置的对象只在必要时移动。',
    replicas: '要分配的副本数',
    noReplicas: '无',
    noObjects: '该策略尚未认领任何对象',
    scope: '对象',
    namespaced: '有命名空间',
    wide: '无命名空间',
  },
})
