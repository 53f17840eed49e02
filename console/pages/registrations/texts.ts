import { inBoth } from '../../words/language.ts'

export const texts = inBoth({
  en: {
    title: 'Connect a cluster',
    connect: 'Connect an existing cluster',
    connectHint:
      'Make a token for one cluster on the hub. The command that it prints starts an agent, which connects the cluster to the hub.',
    waiting: 'Waiting to be accepted',
    none: 'No agent waits to be accepted.',
    compare:
      'Compare this fingerprint with the one in the agent’s log, and accept the agent only if they are equal.',
    address: 'From',
    version: 'Version',
    waitsFor: 'Waits because',
    since: 'Since',
    fingerprint: 'Fingerprint',
    unreadable: 'The request cannot be read; reject it.',
    accept: 'Accept',
    rejectHint: 'This command rejects the agent, and voids its token:',
  },
  zh: {
    title: '接入集群',
    connect: '接入已有集群',
    connectHint: '在中心为一个集群创建令牌。它打印的命令会启动代理，把集群接入中心。',
    waiting: '等待接受',
    none: '没有等待接受的代理。',
    compare: '请与代理日志中的指纹比对，仅在一致时接受。',
    address: '来源',
    version: '版本',
    waitsFor: '等待原因',
    since: '开始于',
    fingerprint: '指纹',
    unreadable: '无法读取该请求，请拒绝。',
    accept: '接受',
    rejectHint: '如需拒绝并作废其令牌：',
  },
})
