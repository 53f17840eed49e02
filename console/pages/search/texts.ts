import { inBoth } from '../../words/language.ts'

export const texts = inBoth({
  en: {
    title: 'Search all clusters',
    field: 'Part of a name, or app=web',
    short: 'Type at least two characters',
    hint: 'A text with = is looked for in labels, any other in names. Clusters answer with your rights there.',
    none: 'Nothing was found',
    noneHint: 'Choose further kinds above. Clusters answer with your rights there.',
    searching: (count: number) => `Searching … ${count} so far`,
    asked: (count: number) => (count === 1 ? '1 cluster answered' : `${count} clusters answered`),
    cut: (count: number) => `The first ${count}; type more to see others`,
    silent: (count: number) =>
      count === 1 ? '1 cluster did not answer' : `${count} clusters did not answer`,
    name: 'Name',
    kind: 'Kind',
    cluster: 'Cluster',
    namespace: 'Namespace',
    labels: 'Labels',
    age: 'Age',
  },
  zh: {
    title: '搜索所有集群',
    field: '名称的一部分，或 app=web',
    short: '请至少输入两个字符',
    hint: '含 = 的文本按标签查找，其他按名称查找。各集群按您的权限作答。',
    none: '没有找到',
    noneHint: '请在上方选择更多类型。各集群按您在其中的权限应答。',
    searching: (count: number) => `正在搜索…目前 ${count} 个`,
    asked: (count: number) => `${count} 个集群已作答`,
    cut: (count: number) => `前 ${count} 个；输入更多文字以查看其他`,
    silent: (count: number) => `${count} 个集群没有作答`,
    name: '名称',
    kind: '类型',
    cluster: '集群',
    namespace: '命名空间',
    labels: '标签',
    age: '存在时间',
  },
})

export type SearchTexts = (typeof texts)['en']
