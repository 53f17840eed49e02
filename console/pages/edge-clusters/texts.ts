import { inBoth } from '../../words/language.ts'

export const texts = inBoth({
  en: { title: 'Edge clusters', create: 'New edge cluster' },
  zh: { title: '边缘集群', create: '新建边缘集群' },
})
