import { inBoth } from '../../words/language.ts'

export const texts = inBoth({
  en: {
    title: 'Applications',
    hint: 'Policies decide where objects of the hub go; a binding says where one is, and how it does there.',
  },
  zh: {
    title: '应用',
    hint: '策略决定中心的对象部署到哪里；绑定说明对象所在的集群及其状态。',
  },
})
