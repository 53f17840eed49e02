import { inBoth } from '../../words/language.ts'

export const texts = inBoth({
  en: {
    title: 'Policies',
    create: 'New policy',
    kind: 'Kind',
    kinds: {
      PropagationPolicy: 'Propagation in a namespace',
      ClusterPropagationPolicy: 'Propagation in all namespaces',
      OverridePolicy: 'Overrides in a namespace',
      ClusterOverridePolicy: 'Overrides in all namespaces',
    },
    hints: {
      PropagationPolicy: 'Decides where objects of its namespace go.',
      ClusterPropagationPolicy:
        'Decides where objects go that no policy of a namespace has claimed.',
      OverridePolicy: 'Changes objects of its namespace for some clusters.',
      ClusterOverridePolicy: 'Changes objects of all namespaces for some clusters.',
    },
  },
  zh: {
    title: '策略',
    create: '新建策略',
    kind: '类型',
    kinds: {
      PropagationPolicy: '命名空间内的分发',
      ClusterPropagationPolicy: '所有命名空间的分发',
      OverridePolicy: '命名空间内的覆盖',
      ClusterOverridePolicy: '所有命名空间的覆盖',
    },
    hints: {
      PropagationPolicy: '决定其命名空间中的对象部署到哪里。',
      ClusterPropagationPolicy: '决定未被命名空间策略认领的对象部署到哪里。',
      OverridePolicy: '为部分集群更改其命名空间中的对象。',
      ClusterOverridePolicy: '为部分集群更改所有命名空间中的对象。',
    },
  },
})
