import { inBoth } from '../../words/language.ts'

export const texts = inBoth({
  en: {
    title: 'Log in',
    token: 'Token',
    tokenHint: 'A token of a user of this hub. It is sent once and not kept in this browser.',
    logIn: 'Log in',
    certificate: 'Use this browser’s certificate',
    issuer: (name: string) => `Log in with ${name}`,
    or: 'or',
    tokenCommand: 'An administrator makes a token on the hub with this command:',
    wrong: 'The hub does not know this token.',
    codeSpent:
      'This link has already been used or has expired. Ask for another one, or log in here.',
    noAnswer: 'The hub does not answer.',
    draftGone:
      'Nobody logged in again within a quarter of an hour, so the entries in the page are gone.',
    ended: 'Please log in.',
  },
  zh: {
    title: '登录',
    token: '令牌',
    tokenHint: '此中心用户的令牌。只发送一次，不会保存在浏览器中。',
    logIn: '登录',
    certificate: '使用浏览器中的证书',
    issuer: (name: string) => `使用 ${name} 登录`,
    or: '或',
    tokenCommand: '管理员可在中心运行以下命令创建令牌：',
    wrong: '中心不认识此令牌。',
    codeSpent: '此链接已被使用或已过期。请重新获取，或在此登录。',
    noAnswer: '中心没有应答。',
    draftGone: '一刻钟内未重新登录，页面上输入的内容已清除。',
    ended: '请登录。',
  },
})
