/** Where to look for a secret: some literal text that is cheap to find, at which the rule's pattern is then tried. */
export type Anchor =
  /** The first characters of a word; at least three. The word then has sixteen or more of `A–Z a–z 0–9 _ - + /`. */
  | { readonly at: 'start'; readonly texts: readonly string[] }
  /** The characters right before such a word. What is secret begins behind them, since they may join on to anything. */
  | { readonly at: 'before'; readonly texts: readonly string[] }
  /** Anywhere at all. */
  | { readonly at: 'anywhere'; readonly texts: readonly string[] }
  /** A name that ends like one of a secret, then `=` or `:`, then such a word. */
  | { readonly at: 'assignment' }
  /** `://`, where an `@` follows before the host's end. */
  | { readonly at: 'userinfo' }

/**
 * One well-known form of a credential, as its issuer documents it. `pattern` is RE2 syntax and begins at the anchor; its
 * first group is what is secret, or all of it where it has no group.
 */
export interface SecretRule {
  readonly id: string
  readonly anchor: Anchor
  readonly pattern: string
  /** How many characters from the anchor on the pattern is given; the only bound of an open count in it. */
  readonly reach: number
  /** What stands before the anchor has to end in this. */
  readonly after?: string
  /** Only where no letter, digit or joining sign stands before the anchor. */
  readonly alone?: true
  /** What was found must look drawn at random, since the form alone says too little. */
  readonly random?: true
  /** Not a secret where this is found in what is secret of it: examples and stand-ins. */
  readonly unless?: string
  /** Not a secret where this is found in all that the pattern matched. */
  readonly unlessNamed?: string
}

const start = (...texts: string[]): Anchor => ({ at: 'start', texts })
const before = (...texts: string[]): Anchor => ({ at: 'before', texts })
const anywhere = (...texts: string[]): Anchor => ({ at: 'anywhere', texts })

// A bot token of Discord begins with the base 64 of its snowflake, which is a decimal number.
const SNOWFLAKES = Array.from({ length: 90 }, (_, n) =>
  Buffer.from(String(n + 10))
    .toString('base64')
    .slice(0, 3),
)
const HEX_DIGITS = Array.from({ length: 16 }, (_, n) => n.toString(16))
const DIGITS = HEX_DIGITS.slice(0, 10)
// RE2 has no negation: a block ends at five dashes, and holds no two in a row before that.
const NOT_TWO_DASHES = '(?:[^-]|-[^-])*'
const PLACEHOLDER = '(?i)x{8}|your|example|placeholder|here'
const STAND_IN =
  '(?i)^(?:[$%{*.].*|x+|pass(?:word|wd|phrase)?|pwd|secret|token|user(?:name)?|(?:your|my|some|example|change|place|redacted|hidden).*)$'

/** Names that call something a key or token which opens nothing. */
const HARMLESS_NAME =
  '(?i)(?:page|next|prev|previous|continuation|sync|cursor|csrf|xsrf|resume|idempotency|cache|public|pagination|scroll)[a-z]*[_.-]?(?:token|key)'
const SECRET_NAME =
  '(?:(?:api|app|application|access|auth|client|consumer|encryption|signing|master|private|secret|subscription|admin|webhook)[_.-]?key' +
  '|secret|token|passw(?:or)?d|passphrase|pwd|credentials?)'

/**
 * Specific before general: where two rules find a secret at one place, the first of them names it.
 */
export const secretRules: readonly SecretRule[] = [
  {
    id: 'aws-access-key-id',
    anchor: start('AKIA', 'ASIA', 'ABIA', 'ACCA'),
    pattern: 'A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}\\b',
    reach: 24,
    unless: 'EXAMPLE$',
  },
  {
    id: 'github-token',
    anchor: start('ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'),
    pattern: 'gh[pousr]_[A-Za-z0-9]{36,}',
    reach: 260,
  },
  {
    id: 'github-fine-grained-token',
    anchor: start('github_pat_'),
    pattern: 'github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}',
    reach: 100,
  },
  {
    id: 'gitlab-token',
    anchor: start('glpat-', 'gldt-', 'glrt-', 'glcbt-', 'glptt-', 'glft-', 'glsoat-', 'glimt-', 'glagent-', 'gloas-'),
    pattern: 'gl[a-z]{2,5}-[A-Za-z0-9_.-]{20,}',
    reach: 320,
    unless: PLACEHOLDER,
  },
  {
    id: 'slack-token',
    anchor: start('xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-', 'xoxo-', 'xoxe-', 'xoxc-', 'xoxd-', 'xapp-'),
    pattern: '(?:xox[a-z]|xapp)-[A-Za-z0-9]{1,14}-[A-Za-z0-9-]{16,}',
    reach: 340,
    random: true,
  },
  {
    id: 'slack-webhook',
    anchor: anywhere('hooks.slack.com/'),
    pattern: 'hooks\\.slack\\.com/(?:services|workflows|triggers)/([A-Za-z0-9/]{30,})',
    reach: 240,
  },
  {
    id: 'stripe-key',
    anchor: start('sk_live_', 'rk_live_', 'sk_test_', 'rk_test_'),
    pattern: '[sr]k_(?:live|test)_[A-Za-z0-9]{16,}',
    reach: 260,
    unless: PLACEHOLDER,
  },
  {
    id: 'webhook-signing-secret',
    anchor: start('whsec_'),
    pattern: 'whsec_[A-Za-z0-9+/]{24,}={0,2}',
    reach: 140,
    unless: PLACEHOLDER,
  },
  { id: 'google-api-key', anchor: start('AIza'), pattern: 'AIza[A-Za-z0-9_-]{35}', reach: 60 },
  { id: 'google-oauth-secret', anchor: start('GOCSPX-'), pattern: 'GOCSPX-[A-Za-z0-9_-]{24,40}', reach: 60 },
  { id: 'google-access-token', anchor: before('ya29.'), pattern: 'ya29\\.([A-Za-z0-9_.-]{30,})', reach: 1100 },
  {
    id: 'anthropic-key',
    anchor: start('sk-ant-'),
    pattern: 'sk-ant-[a-z]{2,8}[0-9]{2}-[A-Za-z0-9_-]{40,}',
    reach: 240,
  },
  { id: 'openrouter-key', anchor: start('sk-or-v1-'), pattern: 'sk-or-v1-[0-9a-f]{64}', reach: 80 },
  {
    id: 'openai-key',
    anchor: start('sk-'),
    pattern: 'sk-(?:(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{32,}|[A-Za-z0-9]{32,64})',
    reach: 280,
    random: true,
  },
  {
    id: 'private-key',
    anchor: anywhere('-----BEGIN '),
    pattern: `-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:${NOT_TWO_DASHES}?[A-Za-z0-9+/]{32}${NOT_TWO_DASHES}-----END [A-Z0-9 ]{0,40}-----|(?:\\s|\\\\[nrt])*[A-Za-z0-9+/]{32}(?:[A-Za-z0-9+/=\\s]|\\\\[nrt])*)`,
    reach: 20_000,
  },
  {
    id: 'json-web-token',
    anchor: start('eyJ'),
    pattern: 'eyJ[A-Za-z0-9_-]{13,}\\.eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{16,}',
    reach: 9_000,
  },
  { id: 'npm-token', anchor: start('npm_'), pattern: 'npm_[A-Za-z0-9]{36}', reach: 60 },
  { id: 'pypi-token', anchor: start('pypi-AgE'), pattern: 'pypi-AgE[A-Za-z0-9_-]{60,}', reach: 1100 },
  { id: 'rubygems-key', anchor: start('rubygems_'), pattern: 'rubygems_[0-9a-f]{48}', reach: 80 },
  {
    id: 'docker-token',
    anchor: start('dckr_pat_', 'dckr_oat_'),
    pattern: 'dckr_[po]at_[A-Za-z0-9_-]{27,60}',
    reach: 80,
  },
  {
    id: 'huggingface-token',
    anchor: start('hf_', 'api_org_'),
    pattern: '(?:hf|api_org)_[A-Za-z0-9]{34,40}\\b',
    reach: 60,
  },
  { id: 'replicate-token', anchor: start('r8_'), pattern: 'r8_[A-Za-z0-9]{37}', reach: 60 },
  { id: 'groq-key', anchor: start('gsk_'), pattern: 'gsk_[A-Za-z0-9]{52}', reach: 80 },
  { id: 'xai-key', anchor: start('xai-'), pattern: 'xai-[A-Za-z0-9]{70,90}', reach: 120 },
  { id: 'perplexity-key', anchor: start('pplx-'), pattern: 'pplx-[A-Za-z0-9]{40,60}', reach: 80 },
  { id: 'nvidia-key', anchor: start('nvapi-'), pattern: 'nvapi-[A-Za-z0-9_-]{60,80}', reach: 100 },
  {
    id: 'azure-shared-key',
    anchor: anywhere('AccountKey=', 'AccessKey='),
    pattern: 'Acc(?:ount|ess)Key=([A-Za-z0-9+/]{40,}={0,2})',
    reach: 130,
  },
  { id: 'databricks-token', anchor: start('dapi'), pattern: 'dapi[0-9a-f]{32}(?:-[0-9])?\\b', reach: 50 },
  {
    id: 'digitalocean-token',
    anchor: start('dop_v1_', 'doo_v1_', 'dor_v1_'),
    pattern: 'do[opr]_v1_[0-9a-f]{64}',
    reach: 80,
  },
  {
    id: 'vault-token',
    anchor: before('hvs.', 'hvb.'),
    pattern: 'hv[sb]\\.([A-Za-z0-9_-]{24,})',
    reach: 320,
    random: true,
  },
  {
    id: 'terraform-cloud-token',
    anchor: before('.atlasv1.'),
    pattern: '\\.atlasv1\\.([A-Za-z0-9_=-]{60,80})',
    reach: 100,
  },
  { id: 'pulumi-token', anchor: start('pul-'), pattern: 'pul-[0-9a-f]{40}\\b', reach: 50 },
  {
    id: 'twilio-key',
    anchor: start(...HEX_DIGITS.map((digit) => `SK${digit}`)),
    pattern: 'SK[0-9a-f]{32}\\b',
    reach: 40,
  },
  {
    id: 'sendgrid-key',
    anchor: before('SG.'),
    pattern: 'SG\\.([A-Za-z0-9_-]{20,24}\\.[A-Za-z0-9_-]{39,50})',
    reach: 90,
  },
  { id: 'mailgun-key', anchor: start('key-'), pattern: 'key-[0-9a-f]{32}\\b', reach: 40, alone: true },
  {
    id: 'square-token',
    anchor: start('sq0atp-', 'sq0csp-', 'sq0idp-'),
    pattern: 'sq0[a-z]{3}-[A-Za-z0-9_-]{22,43}',
    reach: 60,
  },
  { id: 'square-access-token', anchor: start('EAAA'), pattern: 'EAAA[A-Za-z0-9_-]{60}\\b', reach: 70, random: true },
  {
    id: 'shopify-token',
    anchor: start('shpat_', 'shpca_', 'shppa_', 'shpss_'),
    pattern: 'shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}',
    reach: 50,
  },
  {
    id: 'telegram-bot-token',
    anchor: before(...DIGITS.map((digit) => `${digit}:`)),
    pattern: '[0-9]:(AA[A-Za-z0-9_-]{33})\\b',
    reach: 50,
    after: '[0-9]{7,9}',
  },
  {
    id: 'discord-bot-token',
    anchor: start(...SNOWFLAKES),
    pattern: '[MNO][A-Za-z0-9_-]{22,27}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27,40}',
    reach: 90,
  },
  {
    id: 'discord-webhook',
    anchor: anywhere('api/webhooks/'),
    pattern: 'api/webhooks/[0-9]{15,20}/([A-Za-z0-9_-]{60,90})',
    reach: 140,
  },
  { id: 'atlassian-token', anchor: start('ATATT3'), pattern: 'ATATT3[A-Za-z0-9_=-]{100,}', reach: 280 },
  { id: 'linear-key', anchor: start('lin_api_'), pattern: 'lin_api_[A-Za-z0-9]{40}', reach: 60 },
  { id: 'notion-token', anchor: start('ntn_'), pattern: 'ntn_[A-Za-z0-9]{40,60}', reach: 80 },
  { id: 'figma-token', anchor: start('figd_'), pattern: 'figd_[A-Za-z0-9_-]{40,60}', reach: 80 },
  { id: 'postman-key', anchor: start('PMAK-'), pattern: 'PMAK-[0-9a-f]{24}-[0-9a-f]{34}', reach: 80 },
  {
    id: 'grafana-token',
    anchor: start('glsa_', 'glc_ey'),
    pattern: 'glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}|glc_ey[A-Za-z0-9+/]{32,}={0,2}',
    reach: 420,
  },
  { id: 'sentry-token', anchor: start('sntrys_', 'sntryu_'), pattern: 'sntry[su]_[A-Za-z0-9+/=_-]{60,}', reach: 420 },
  { id: 'new-relic-key', anchor: start('NRAK-'), pattern: 'NRAK-[A-Z0-9]{27}', reach: 40 },
  {
    id: 'supabase-key',
    anchor: start('sbp_', 'sb_secret_'),
    pattern: 'sbp_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{22,60}',
    reach: 80,
  },
  {
    id: 'planetscale-token',
    anchor: start('pscale_tkn_', 'pscale_pw_', 'pscale_oauth_'),
    pattern: 'pscale_[a-z]{2,5}_[A-Za-z0-9_.-]{32,64}',
    reach: 90,
  },
  { id: 'heroku-key', anchor: start('HRKU-AA'), pattern: 'HRKU-AA[A-Za-z0-9_-]{58}', reach: 80 },
  { id: 'age-secret-key', anchor: start('AGE-SECRET-KEY-1'), pattern: 'AGE-SECRET-KEY-1[0-9A-Z]{58}', reach: 80 },
  {
    id: 'url-password',
    anchor: { at: 'userinfo' },
    pattern: '://[^\\s/@:"\'<>\\\\]{0,}:([^\\s/@"\'<>\\\\]{3,})@',
    reach: 400,
    unless: STAND_IN,
  },
  {
    id: 'bearer-credential',
    anchor: before('earer ', 'asic '),
    pattern: '(?:earer|asic) ([A-Za-z0-9_.~+/-]{16,}={0,2})',
    reach: 2100,
    random: true,
  },
  {
    id: 'assigned-secret',
    anchor: { at: 'assignment' },
    pattern: `(?i)[a-z0-9_.-]*?${SECRET_NAME}[\\\\"'\`\\s]{0,8}(?::=|=>|[:=])[\\\\"'\`\\s]{0,8}([A-Za-z0-9_+/-]{16,}={0,2})`,
    reach: 320,
    random: true,
    unlessNamed: HARMLESS_NAME,
  },
]
