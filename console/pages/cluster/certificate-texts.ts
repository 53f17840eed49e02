import { inBoth } from '../../words/language.ts'

export const certificateTexts = inBoth({
  en: {
    of: 'Certificate of',
    uses: {
      api: 'API server',
      agent: 'Agent',
      client: 'Node',
      serving: 'Node, for logs and shells',
    },
    name: 'Machine',
    version: 'Version',
    ends: 'Ends',
    state: 'State',
    states: {
      ended: (span: string) => `ended ${span} ago`,
      late: (span: string) => `ends in ${span}, not renewed in time`,
      soon: (span: string) => `ends in ${span}: renew it`,
      unknown: () => 'not known',
      good: () => 'good',
      renews: () => 'renews itself',
    },
    hint: 'The agent looks at the API server’s certificate each hour, nodes of Skerry report their own, and the hub sees the agent’s.',
    noNodes: 'Nodes are asked through the tunnel. They are missing while it is closed.',
  },
  zh: {
    of: '证书所属',
    uses: { api: 'API 服务器', agent: '代理', client: '节点', serving: '节点（日志和终端）' },
    name: '机器',
    version: '版本',
    ends: '到期',
    state: '状态',
    states: {
      ended: (span: string) => `${span}前已到期`,
      late: (span: string) => `${span}后到期，未及时续期`,
      soon: (span: string) => `${span}后到期：请续期`,
      unknown: () => '未知',
      good: () => '有效',
      renews: () => '自动续期',
    },
    hint: '代理每小时查看 API 服务器的证书，Skerry 节点报告自己的证书，中心查看代理的证书。',
    noNodes: '节点经由隧道查询；隧道关闭时不显示。',
  },
})

export type CertificateTexts = (typeof certificateTexts)['en']
