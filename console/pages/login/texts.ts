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
    problems: {
      issuer:
        'The login at the issuer did not succeed: it was cancelled or refused, or the issuer did not answer. The hub’s log has the reason.',
      expired:
        'The login at the issuer took too long, or it began in another browser. Please try again.',
      unknown: 'The issuer knows you, but the hub does not accept you. Ask its administrator.',
    },
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
    problems: {
      issuer: '在身份提供方的登录未成功：被取消、被拒绝，或对方没有应答。原因见中心的日志。',
      expired: '在身份提供方的登录用时过长，或是在另一个浏览器中开始的。请重试。',
      unknown: '身份提供方认识您，但中心不接受您的登录。请联系中心的管理员。',
    },
    draftGone: '一刻钟内未重新登录，页面上输入的内容已清除。',
    ended: '请登录。',
  },
})
