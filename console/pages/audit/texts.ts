import { inBoth } from '../../words/language.ts'

export const texts = inBoth({
  en: {
    title: 'Audit log',
    replica: (name: string) => `of the replica ${name}`,
    again: 'Search again',
    save: 'Save as JSON',
    asLine: 'kubectl command',
    more: 'Older lines',
    none: 'No request matches',
    fields: {
      user: 'User',
      cluster: 'Cluster',
      verb: 'Verb',
      resource: 'Resource',
      since: 'From',
      until: 'To',
    },
    reviews: 'Questions about rights',
    time: 'When',
    method: 'Method',
    status: 'Status',
    path: 'Path',
    took: 'Took',
    by: (name: string) => `(by ${name})`,
  },
  zh: {
    title: '审计日志',
    replica: (name: string) => `来自副本 ${name}`,
    again: '重新搜索',
    save: '保存为 JSON',
    asLine: 'kubectl 命令',
    more: '更早的记录',
    none: '没有符合的请求',
    fields: {
      user: '用户',
      cluster: '集群',
      verb: '动作',
      resource: '资源',
      since: '从',
      until: '到',
    },
    reviews: '权限查询',
    time: '时间',
    method: '方法',
    status: '状态',
    path: '路径',
    took: '耗时',
    by: (name: string) => `（由 ${name} 代理）`,
  },
})

export type AuditTexts = (typeof texts)['en']
