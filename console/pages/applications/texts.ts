import { inBoth } from '../../words/language.ts'

export const texts = inBoth({
  en: {
    title: 'Applications',
    hint: 'Policies decide which clusters get an object of the hub; its binding shows where it is and how it is doing.',
    create: 'Make a policy that sends objects of the hub to clusters',
  },
  zh: {
    title: '应用',
    hint: '策略决定中心的对象部署到哪里；绑定说明对象所在的集群及其状态。',
    create: '新建策略，把中心的对象分发到集群',
  },
})
