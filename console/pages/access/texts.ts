import { inBoth } from '../../words/language.ts'

export const texts = inBoth({
  en: {
    title: 'Access',
    hint: 'A ClusterAccess grants users rights in clusters; roles grant rights at the hub itself.',
  },
  zh: {
    title: '访问权限',
    hint: 'ClusterAccess 规定谁可以在哪些集群做什么；角色规定中心本身的权限。',
  },
})
