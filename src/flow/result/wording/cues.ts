/**
 * What a text that gives orders to a model does, and a text that informs does not: it addresses the model, overrides other
 * rules, asks for secrecy, claims authority, asks for secrets. A cue is a sign and no proof; only together, close to
 * each other, do they count. Texts of attacks differ and these are their moves, not their words.
 */
export const cues = [
  'override',
  'new-role',
  'secrecy',
  'to-the-model',
  'role-marker',
  'directive-tag',
  'authority',
  'no-asking',
  'obedience',
  'as-the-user',
  'delayed',
  'decode-and-follow',
  'power',
  'secret-wanted',
  'secret-named',
  'send-away',
  'url-with-data',
  'calls-a-tool',
  'gate-before',
  'prefers-itself',
  'other-tools',
  'into-the-answer',
  'carries-other-data',
  'later-change',
  'advertises',
  'secret-file',
  'urgent',
  'task-change',
  'side-effect-hint',
] as const
export type Cue = (typeof cues)[number]

export type Reading = 'definition' | 'result'

interface Rule {
  readonly cue: Cue
  /** How much of a verdict the cue is, where the text is what a tool says of itself, and where it is what it gave back. */
  readonly weight: Readonly<Record<Reading, number>>
  readonly patterns: readonly RegExp[]
  /** Where this stands too, it says the contrary: "not … without approval". */
  readonly unless?: RegExp
}

/** Whether a cue is in a text. */
export function holds({ patterns, unless }: Rule, text: string): boolean {
  return patterns.some((pattern) => pattern.test(text)) && !(unless?.test(text) ?? false)
}

/** Without one of these nothing is worth reading closely: a text has to address somebody, or name what is to be had. */
export const anchor =
  /ignor|disregard|forget|overrid|overrul|bypass|instruct|assistant|\bagents?\b|\bai\b|\bllm|language model|system|hidden|secret|credential|password|api.?key|token|cookie|\.ssh|\.env|\.aws|passwd|prompt|conversation|approv|authori[sz]|consent|permission|confirm|\buser\b|\byou(?:r| are)?\b|decode|human:|<\||\[inst|important|urgent|critical|[?&]\w+=[<{[]|exfiltrat|withheld|in order to|must|never mention|silently|unrestricted|jailbreak|instead|best|always|replace|also|invoke|https?:/i

const model = String.raw`(?:ai|a\.i\.|llms?|(?:large )?language models?|assistants?|(?:coding |ai |llm )?agents?|chat ?bots?|copilot|chatgpt|claude|gemini|ai models?)`
const rules_ = String.raw`(?:instruction|prompt|guideline|rule|restriction|polic(?:y|ies)|directive|command|order|safeguard|guardrail|constraint|training|programming|direction|safeguard|request)s?`
const doing = String.raw`(?:read|open|send|call|run|invoke|execute|use|forward|post|upload|include|add|insert|append|copy|write|pass|put|set|fetch|delete|remove|e-?mail|share|reveal|print|output|repeat|follow|visit|click|transfer|buy|sell|grant|create|update|push|export|save|access|give|provide|attach|disable|enable|query|list|search|navigate|download|install|message)`
const secret = String.raw`(?:~?/?\.(?:ssh|aws|env|netrc|npmrc|kube|docker|gnupg|git-credentials)\b|id_(?:rsa|ed25519|ecdsa|dsa)|/etc/(?:passwd|shadow)|authorized_keys|printenv|env(?:ironment)? (?:variables?|vars|dump)|mcp\.json|api[ _-]?keys?|pass(?:words?|wd|phrases?)|credentials?|(?:session|auth|access|bearer|refresh|api|user'?s?|login) (?:cookies?|tokens?|ids?|keys?)|private keys?|ssh keys?|seed phrases?|wallet keys?|secrets?|system prompts?|(?:conversation|chat|message|dialog(?:ue)?)s?(?:'s)? (?:history|so far|transcript|log|content|context)|(?:full|entire|complete|whole|current) (?:conversation|chat|context|prompt|transcript|dialog(?:ue)?)|all (?:previous|prior|earlier) messages|(?:last|previous) \w+ messages|card numbers?|social security)`
const secretFile = String.raw`(?:~?/?\.(?:ssh|aws|netrc|kube|gnupg|git-credentials|docker/config)\b|\.env\b|id_(?:rsa|ed25519|ecdsa|dsa)|/etc/(?:passwd|shadow)|authorized_keys|\bprintenv\b|mcp\.json|/proc/self/environ|keychain|login data)`
const elsewhere = String.raw`(?:https?://|\b[\w.+-]+@[\w-]+\.\w|\bwebhook|\bcollector|\battacker|\b(?:external|remote|third[- ]party|outside|our|my|another|unknown) (?:\w+ )?(?:hosts?|servers?|endpoints?|addresse?s?|accounts?|urls?|services?|inbox|machine)\b)`
const not = String.raw`(?:do not|don'?t|never|must not|should not|shouldn'?t|mustn'?t|avoid|refrain from|without|no need to|need not)`

function of(cue: Cue, definition: number, result: number, ...patterns: readonly string[]): Rule {
  return { cue, weight: { definition, result }, patterns: patterns.map((one) => new RegExp(one, 'i')) }
}

const CONTRARY =
  /\b(?:not|never|n't|cannot)\b[^.!?]{0,60}\bwithout\b|\b(?:prompt|asks?|wait for|requires?)\b[^.!?]{0,20}\b(?:users?|approval|confirmation|permission)\b/i

export const rules: readonly Rule[] = [
  of(
    'secret-file',
    0.9,
    0.3,
    String.raw`\b(?:reads?|open|includes?|pass|provide|put|send|paste|copy|attach|add|insert|append|fetch|get|dump|upload|contents?|output|cat|exfiltrate|steal|leak|load|embed|call\b[^.!?]{0,30}\bon)\b[^.!?\n]{0,70}?${secretFile}`,
  ),
  of(
    'override',
    1,
    1,
    String.raw`\b(?:ignore|disregard|forget|override|overrule|discard|bypass|set aside|pay no attention to|stop following|supersedes?|takes? (?:precedence|priority) over)\b[^.!?]{0,30}\b(?:previous|prior|above|earlier|preceding|all|any|your|other|existing|original|initial|former|old|safety|system|the user'?s?)\b[^.!?]{0,24}\b${rules_}\b`,
    String.raw`\b(?:ignore|disregard|forget)\b[^.!?]{0,12}\b(?:everything|anything|all|what)\b[^.!?]{0,20}\b(?:before|above|told|said|earlier|previously)\b`,
    String.raw`\b(?:ignore|disregard)\b[^.!?]{0,8}\buser'?s?\b[^.!?]{0,12}\b(?:request|question|query|task|wish(?:es)?|input)\b`,
    String.raw`\b(?:ignore|disregard|forget) (?:all |everything |what'?s? |the )*(?:above|previous|prior|foregoing)\b(?: (?:text|directions?|content|messages?|instructions?|words?))?(?: and\b|[,;:.!])`,
    String.raw`\b(?:reveal|print|repeat|output|leak|disclose|show)\b[^.!?]{0,30}\b(?:your|full|entire|hidden) (?:full |entire |hidden )?(?:system )?(?:prompt|instructions)\b`,
  ),
  of(
    'new-role',
    0.9,
    0.8,
    String.raw`\byou are (?:now|no longer|hereby|from now on)\b`,
    String.raw`\b(?:from now on|henceforth|as of now)\b[^.!?]{0,20}\b(?:you|${model})\b`,
    String.raw`\byour (?:new|real|actual|updated|next|only|true|primary) (?:task|role|goal|job|instructions?|objective|mission|identity)\b`,
    String.raw`\b(?:new|updated|hidden|secret|real|revised) (?:system )?(?:instructions?|prompt|polic(?:y|ies)|task|orders)\s*:`,
    String.raw`\bact as\s*:|\bpretend (?:to be|that you)\b|\bjailbreak|\bdeveloper mode\b|\bDAN mode\b`,
  ),
  of(
    'secrecy',
    0.8,
    0.8,
    String.raw`\b${not}\b[^.!?]{0,24}\b(?:tell|telling|mention|mentioning|inform|informing|reveal|revealing|disclose|notify|notifying|alert|alerting|bring(?:ing)? (?:it|this) up|let(?:ting)? the user|say|show(?:ing)? (?:it|this) to|print this|talk about|explain)\b[^.!?]{0,40}\b(?:users?|this|it|anyone|anybody|them|comment|step|these)\b`,
    String.raw`\b(?:silently|secretly|covertly|quietly|discreetly)\b[^.!?]{0,12}\b${doing}\b|\b${doing}\b[^.!?]{0,30}\b(?:secretly|covertly|discreetly)\b`,
    String.raw`\b(?:keep|stay|remain|be)\b[^.!?]{0,20}\b(?:secret|silent|hidden|quiet|confidential|out of the (?:reply|answer|response|summary|chat)|to yourself)\b`,
    String.raw`\b(?:secret|hidden) (?:operation|step|instruction|task)\b`,
    String.raw`\b(?:users?|they) (?:should|must|need|does|do|will|would)(?: not|n'?t)\b[^.!?]{0,20}\b(?:know|see|notice|be (?:told|aware|informed|bothered)|worry|find)`,
    String.raw`\bno need to (?:bring|mention|tell|ask|report|inform)`,
  ),
  of(
    'to-the-model',
    0.45,
    0.65,
    String.raw`\b(?:note|notice|message|instructions?|attention|reminder|hint|advice|info(?:rmation)?|memo|important)s?\b[^.!?]{0,12}\b(?:for|to)\b[^.!?]{0,10}\b${model}\b`,
    String.raw`(?:^|[\n;>"'|(\[*#/-])\s*(?:dear |hey |hi |hello |attention,? )?${model}\s*[:,!]\s*\w`,
    String.raw`\b(?:the|any|this|every|all|an?|your)?\s*${model}\b[^.!?\n]{0,16}\b(?:must|should|shall|has to|have to|needs? to|is (?:required|expected|authori[sz]ed|allowed|obliged|instructed|to)|are (?:required|to)|ought to|may not)\b`,
    String.raw`\b(?:to|for) you, the ${model}\b|\bas an? (?:ai|language model|assistant|llm)\b|\bif you are an? ${model}\b`,
  ),
  of(
    'role-marker',
    1,
    1,
    String.raw`<\|(?:im_start|im_end|im_sep|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id)\|>|\[/?INST\]|<</?SYS>>|</?(?:tool_result|function_results?|tool_output|tool_response)>|<\/?(?:system|assistant|human)>\s*\S|<start_of_turn>`,
    String.raw`(?:^|[\n"|>])\s*(?:human|user)\s*:[^\n]{3,300}\n+\s*(?:assistant|ai)\s*:\s*\S`,
  ),
  of(
    'directive-tag',
    0.65,
    0.7,
    String.raw`<\s*/?\s*(?:important|critical|instructions?|secret|hidden|information|urgent|attention|admin|priority|note_to_ai|system[-_ ]?(?:note|message|prompt|reminder))\s*>`,
    String.raw`\[{1,3}\s*(?:important|system|hidden|admin(?:istrator)?|security|root|developer|assistant|ai|internal|urgent|critical)\b[^\]\n]{0,40}\]?\s*[:\]]`,
    String.raw`\[[^\]\n]{0,30}\b(?:directive|override|instructions?)\b[^\]\n]{0,20}\]`,
    String.raw`(?:^|\n|[.>"]\s*)(?:system|system (?:message|note|notice|override|update|instruction|alert)|instruction override|admin(?:istrator)? (?:note|notice|message|override))\s*:\s*\S`,
    String.raw`\{\{\s*(?:system|admin|assistant)\b`,
    String.raw`(?:^|\n|\s)[-=*#]{3,12} ?[^\n]{0,30}\b(?:override|system|instructions?|directive)\b[^\n]{0,30}\s*[-=*#]{3,}`,
  ),
  of(
    'authority',
    0.6,
    0.7,
    String.raw`\b(?:authori[sz]ed|approved|granted|cleared|confirmed|mandated|required|reviewed|requested|whitelisted|signed off)\b[^.!?]{0,30}\b(?:by|from)\b[^.!?]{0,16}\b(?:admin(?:istrator)?s?|security|operators?|system|compliance|it department|management|user|developer|anthropic|openai|the owner|legal)\b`,
    String.raw`\b(?:consent|approval|permission|authori[sz]ation)\b[^.!?]{0,30}\b(?:has been|have been|was|is|already|recorded|granted|given|on file|confirmed)\b[^.!?]{0,40}`,
    String.raw`\b(?:the )?user\b[^.!?]{0,12}\b(?:has|have|already|previously)\b[^.!?]{0,12}\b(?:agreed|approved|consented|authori[sz]ed|confirmed)\b|\buser (?:agreed|approved|consented) to\b`,
    String.raw`\b(?:admin(?:istrator)?s?|(?:security|compliance|platform) team|operators?|owner|management)\b[^.!?]{0,8}\b(?:has|have)\b[^.!?]{0,12}\b(?:approved|authori[sz]ed|granted|cleared|confirmed)\b`,
    String.raw`\bpre-?(?:approved|authori[sz]ed)\b|\btake (?:it|that|this) as (?:approval|consent|permission|a yes)\b|\b(?:is|are) authori[sz]ed to\b`,
    String.raw`\btreat\b[^.!?]{0,40}\bas\b[^.!?]{0,20}\b(?:coming from|trusted|the operator|the user|approved|authori[sz]ed)\b`,
    String.raw`\b(?:security|compliance|legal|admin|it|platform) (?:team|department|policy)\b[^.!?]{0,20}\b(?:notice|requires?|mandates?|has|says)\b`,
  ),
  {
    ...of(
      'no-asking',
      0.6,
      0.6,
      String.raw`\b(?:without|skip|bypass|no|omit|avoid|suppress|do not|don'?t|not)\b[^.!?]{0,16}\b(?:asking|ask(?: (?:the )?(?:user|for))|confirm(?:ation|ing)?|approvals?|consent|permission|user review|prompting|verification|warning the user)\b`,
      String.raw`\b(?:proceed|continue|call|run|execute|act)\b[^.!?]{0,30}\b(?:freely|immediately without|without (?:confirmation|validation|review|question|restriction))\b`,
    ),
    unless: CONTRARY,
  },
  of(
    'obedience',
    0.7,
    0.7,
    String.raw`\b(?:strictly|carefully|exactly|blindly) (?:adhere|follow|obey|comply)|\b(?:adhere|comply) (?:strictly )?(?:to|with) the following\b`,
    String.raw`\bin order to (?:get|obtain|receive|see|use|access|unlock|view|complete|continue)\b[^.!?]{0,60}\b(?:you|${model}|must|have to|need to|has to)\b`,
    String.raw`\b(?:carry out|act on|follow|obey|do)\b[^.!?]{0,12}\b(?:whatever|everything|anything|all|any)\b[^.!?]{0,20}\b(?:asks?|says?|tells?|steps?|instructions?|output|command)\b`,
    String.raw`\bfollow the (?:steps|instructions) (?:there|below|inside|in it|it contains|returned)\b`,
    String.raw`\b(?:calls?|requests?|results?|answers?)\b[^.!?]{0,24}\b(?:(?:is|are|will be) (?:refused|invalid|rejected|withheld|blocked)|fails?)\b[^.!?]{0,12}\b(?:otherwise|without|unless|until)\b|\b(?:refused|invalid|rejected|withheld|blocked) otherwise\b|\bwithheld\b`,
  ),
  of(
    'as-the-user',
    1,
    1,
    String.raw`\bI am the (?:user|owner|admin(?:istrator)?|developer)\b|\bthe task (?:that )?I gave you\b|\bmessage from me\b|\bsigned,\s*(?:the )?user\b|\bnew (?:user )?(?:query|request|prompt|message) (?:from (?:the )?user)?\s*:|\bthis is (?:the user|your (?:user|owner|developer|creator))\b`,
    String.raw`\b(?:my|a more) (?:new|urgent) (?:new )?task\b|\b(?:previous|current|original) task (?:has been|is) (?:completed?|done|finished|cancel+ed)\b`,
  ),
  of(
    'delayed',
    0.4,
    0.65,
    String.raw`\b(?:if|when|whenever|once|after|the next time|as soon as) the (?:user|human|customer|operator)\b[^.!?]{0,16}\b(?:later|asks?|says?|writes?|types?|mentions?|requests?|repl(?:y|ies)|responds?|opens?)\b`,
    String.raw`\b(?:in|on|during|for) (?:all|every|each|any) (?:future|later|following|subsequent) (?:conversations?|messages?|turns?|requests?|calls?|answers?|replies)\b`,
    String.raw`\bwhen (?:summari[sz]ing|processing|reading|reviewing|analy[sz]ing) this (?:page|file|document|message|text|email|issue|content)\b`,
  ),
  of(
    'decode-and-follow',
    1,
    1,
    String.raw`\b(?:decode|decrypt|deobfuscate|unescape|base64)\b[^.!?]{0,24}\b(?:and|then)\b[^.!?]{0,12}\b(?:execute|follow|run|obey|carry|apply|do)\b`,
  ),
  of(
    'power',
    0.8,
    0.6,
    String.raw`\b(?:unrestricted|unlimited|full|root|elevated|superadmin|god[- ]mode|administrative)\b[^.!?]{0,16}\b(?:mode|access|privileges?|trust|permissions?|authority|file ?system)\b`,
    String.raw`\b(?:disable|bypass|skip|turn off|ignore|circumvent|remove|evade)\b[^.!?]{0,24}\b(?:safety|security|content|access|guardrails?|validation|sanitization|protections?|restrictions?|safeguards?|audit(?:ing)?|logging)\b(?: (?:filters?|checks?|controls?|polic(?:y|ies)|guidelines?|restrictions?|measures?|rules?|filtering))?`,
    String.raw`\btrust (?:all|any|every)\b[^.!?]{0,20}\b(?:input|user|quer(?:y|ies)|commands?|admin)`,
    String.raw`\b(?:execute|run)\b[^.!?]{0,12}\b(?:any|all|arbitrary) (?:commands?|code|request)[^.!?]{0,30}\bwithout\b`,
  ),
  of(
    'secret-wanted',
    0.7,
    0.55,
    String.raw`\b(?:read|open|include|pass|provide|put|send|paste|copy|attach|add|insert|append|fetch|get|dump|collect|share|forward|post|upload|return|give|write|supply|fill|repeat|encode|extract|reads?|print|export)\b[^.!?\n]{0,70}?${secret}`,
  ),
  of('secret-named', 0.1, 0.1, secret),
  of(
    'send-away',
    0.6,
    0.45,
    String.raw`\b(?:sends?|posts?|forwards?|uploads?|bcc|relays?|transmits?|reports?|delivers?|mirrors?|exfiltrat\w+|cop(?:y|ies|ied)|posted|sent|forwarded|reroutes?|redirects?)\b[^!?\n]{0,80}?${elsewhere}`,
    String.raw`\bexfiltrat\w+\b|\b(?:reroute|redirect|divert)\b[^.!?]{0,40}\b(?:account|payment|transfer|recipient|destination|traffic)\b`,
    String.raw`\b(?:recipient|bcc|cc|destination|address|reply-to|server|endpoint|host)\b[^.!?]{0,12}\b(?:to|with|as|=)\b[^.!?]{0,8}(?:https?://|[\w.+-]+@[\w-]+\.\w)`,
  ),
  of(
    'url-with-data',
    1,
    1,
    String.raw`https?://[^\s)"'<>]{1,200}[?&#][\w.-]{0,40}=(?:<[^>\n]{3,80}>|\{\{?[^}\n]{2,60}\}\}?|\[[A-Z_ ]{3,60}\])`,
    String.raw`!\[[^\]\n]{0,80}\]\(https?://[^)\s]{1,200}[?&]\w{1,20}=(?:<|\{|\[)`,
    String.raw`\b(?:token|secret|key|cookie|password|conversation|chat|summary|session|history|answer)s?\b[^.!?]{0,30}\b(?:to|into|in|onto|as)\b[^.!?]{0,20}\b(?:link|url|query|parameter|image)\b[^.!?]{0,10}https?://`,
  ),
  of(
    'calls-a-tool',
    0,
    0.4,
    String.raw`\b(?:call|calls|calling|run|running|invoke|invoking|use|using|execute|via|with|to)\b[^.!?\n]{0,12}[\s"'${'`'}(](?!(?:e-mail|sign-in|log-in|up-to|built-in|opt-in|real-time|read-only|end-to)\b)[a-z][a-z0-9]{1,24}(?:[_][a-z0-9]{1,24}){1,6}\b`,
    String.raw`\b(?:call|invoke|execute)\s+["'${'`'}]?[a-z][a-z0-9]{1,24}(?:-[a-z0-9]{1,24}){1,6}\b`,
    String.raw`\b(?:use|using|call|run) the [\w-]{3,40} tool\b`,
  ),
  of(
    'gate-before',
    0.3,
    0.3,
    String.raw`\b(?:before|prior to|after|ahead of)\b[^.!?]{0,16}\b(?:using|calling|running|invoking|executing|any|each|every|all|you (?:continue|can|answer|proceed|respond))\b`,
    String.raw`\b(?:must|always|mandatory|required|need to|has to)\b[^.!?]{0,24}\b(?:first|before|beforehand|each time|every time|prior)\b`,
  ),
  of(
    'prefers-itself',
    1,
    0.3,
    String.raw`\b(?:the )?(?:best|most (?:accurate|reliable|powerful|trusted)|superior|ultimate|elite|premium|only (?:reliable|trusted))\b[^.!?]{0,16}\b(?:tool|tools|function|method|server|choice|option)s?\b[^.!?]{0,24}(?:!|\b(?:in the world|available|ever|always|of all)\b)`,
    String.raw`\b(?:always|must|should) (?:be )?(?:prefer(?:red)?|choose|chosen|pick|picked|select(?:ed)?|priorit[iy]z\w*|use(?:d)?|call(?:ed)?)\b[^.!?]{0,30}\b(?:over|instead of|rather than)\b[^.!?]{0,20}\b(?:any|all|other|similar|every|alternative)`,
    String.raw`\b(?:choose|use|call|pick|prefer|select)\b[^.!?]{0,60}\beven (?:when|if)\b[^.!?]{0,30}\b(?:user|another|other|asked|named?)`,
    String.raw`\b(?:just|only|always) use this (?:tool|function|server)\b|\bno matter (?:what|how|which|who)\b`,
    String.raw`\bpriorit[iy]z\w* (?:calling|using|this)\b|\bcalled any ?time\b|\bhighest priority\b|\bfar (?:superior|better)\b`,
    String.raw`\b(?:do not|don'?t|never|avoid|stop)\b[^.!?]{0,10}\b(?:use|using|call|calling)\b[^.!?]{0,12}\b(?:any |all )?(?:other|similar|alternative|competing)\b[^.!?]{0,12}\btools?\b`,
    String.raw`\b(?:other|alternative|similar|competing) (?:tools?|servers?|providers?)\b[^.!?]{0,24}\b(?:deprecated|outdated|unsafe|broken|inferior|insecure|unreliable|obsolete|slow)\b`,
    String.raw`\b(?:this|it) (?:tool )?(?:must|should|has to) (?:always )?be (?:called|used|run|invoked) (?:for|on|in|at) (?:every|any|all|each)\b`,
  ),
  of(
    'other-tools',
    0.6,
    0.4,
    String.raw`\b(?:every|each|any|all) (?:use|call|invocation|run|request)s? (?:of|to)\b[^.!?]{0,40}\b(?:must|should|has to|have to|needs?|will|also)\b`,
    String.raw`\b(?:while|when|whenever|if|once)\b[^.!?]{0,40}\b(?:is|are) (?:installed|present|available|connected|loaded|enabled)\b[^.!?]{0,60}\b(?:must|every|all|always|should)\b`,
    String.raw`\b(?:modif(?:y|ies)|change|alter|replace|rewrite|intercept)\b[^.!?]{0,30}\b(?:result|output|behaviou?r|argument|recipient)s?\b[^.!?]{0,12}\bof\b[^.!?]{0,30}\btools?\b`,
    String.raw`\b(?:instead|in place) of\b[^.!?]{0,30}\b(?:tool|server|function)\b|\b(?:forbidden|prohibited|not allowed) to (?:use|call|execute)\b`,
    String.raw`\b(?:also|additionally|then|and|;)\s+(?:calls?|runs?|invokes?|sends?|pass(?:es)?|includes?|reads?|posts?|uploads?|forwards?|writes?|deletes?|cop(?:y|ies)|exfiltrates?)\b`,
    String.raw`\b(?:when|whenever|before|after|if|every time)\b[^.!?]{0,24}\b[\w-]{3,40} (?:tool|operation|function|command)\b[^.!?]{0,24}\b(?:is|was|gets|are)\b[^.!?]{0,6}\b(?:invoked|called|used|run|executed)\b`,
    String.raw`\b(?:write|send|post|copy|save|log|store|mirror)s?\b[^.!?]{0,30}\b(?:every|each|all|any)\b[^.!?]{0,16}\b(?:results?|answers?|outputs?|messages?|responses?|conversations?)\b[^!?]{0,80}\b(?:as well|too|also)\b`,
    String.raw`\breplace\b[^.!?]{0,10}\b(?:its|the|their)\b[^.!?]{0,10}\b(?:output|results?|values?|response|answer|numbers?)\b`,
  ),
  of(
    'into-the-answer',
    0.5,
    0.5,
    String.raw`\b${doing}\b[^.!?]{0,60}\b(?:in|into|to|with|at the end of) (?:your|the|its|every|each|all) (?:final |next )?(?:answers?|repl(?:y|ies)|responses?|output|summary|messages?)\b`,
    String.raw`\b(?:finish|end|start|begin|close)\b[^.!?]{0,16}\b(?:answer|reply|response|message)s? with\b`,
  ),
  of(
    'carries-other-data',
    1,
    0.6,
    String.raw`\b(?:must|should|has to|needs? to|always)\b[^.!?]{0,16}\b(?:contains?|includes?|carry|hold|be filled|be set)\b[^.!?]{0,90}\b(?:returned by|(?:output|results?|contents?|text) of|messages?\b|from the (?:previous|last|other|newest)|of the (?:newest|last|previous|other))`,
  ),
  of(
    'later-change',
    1,
    0.5,
    String.raw`\b(?:once|after|when|as soon as)\b[^.!?]{0,24}\b(?:approv(?:ed|al)|reviewed?|trusted|whitelisted|installed)\b[^.!?]{0,60}\b(?:will|begins?|starts?|switch(?:es)?|enables?|swap|change|becomes?)\b|\bpost-approval\b`,
  ),
  of(
    'urgent',
    0.2,
    0.2,
    String.raw`\bIMPORTANT\b\s*!{1,}|\bURGENT\b|\bCRITICAL\b\s*[:!]|\bATTENTION\b\s*[:!]|\bWARNING\b\s*!{2,}`,
    String.raw`\bimmediately\b[^.!?]{0,20}\b${doing}\b`,
  ),
  of(
    'task-change',
    0.5,
    0.5,
    String.raw`\b(?:before|instead of|rather than)\b[^.!?]{0,20}\b(?:continu\w+|answer\w*|proceed\w*|respond\w*|complet\w+|solv\w+|the user'?s?)\b[^.!?]{0,50}\b${doing}\b`,
    String.raw`\b(?:please )?(?:do|complete|finish|perform)\b[^.!?]{0,16}\b(?:the following|this|new task)\b[^.!?]{0,12}\bfirst\b`,
    String.raw`\bto (?:obtain|get|see|unlock) it\b[^.!?]{0,30}\b(?:must|has to|have to|needs? to|run|call)\b`,
  ),
  of(
    'side-effect-hint',
    0.4,
    0.3,
    String.raw`--(?:insecure|no-verify|skip-tls|force-yes|dangerously)[\w-]*|\brm -rf\b|\bcurl\b[^\n]{0,80}\|\s*(?:ba)?sh\b|169\.254\.169\.254|/proc/self/environ`,
    String.raw`\b(?:moved|replaced|deprecated|renamed)\b[^.!?]{0,12}[.!?]?\s*(?:please )?(?:send|use|call|post)\b[^.!?]{0,60}\binstead\b`,
  ),
]

const praise =
  /\b(?:best|ultimate|superior|premium|elite|revolutionary|unprecedented|fastest|exclusive|unbeatable|world[- ]class|award[- ]winning|millions?|five[- ]star|5[- ]star|recommended by|trusted by|don'?t (?:settle|waste|fall|miss)|why settle|hurry|act now|upgrade now|start here|#1|number one|most (?:trusted|accurate|popular|powerful)|outdated|inferior|never fails|guaranteed|zero errors|\d+x faster|amazing|incredible|perfect|cutting[- ]edge|state[- ]of[- ]the[- ]art|military[- ]grade|competitors|limited time|deserve)\b/gi

/** How many different words of an advertisement a text has. A description informs; one that sells wants to be picked. */
export function praises(text: string): number {
  return new Set(Array.from(text.matchAll(praise), ([word]) => word.toLowerCase())).size
}

/**
 * A text that talks about orders: it detects them, quotes them, or shows one as an example. Those who write about attacks
 * use the words of attacks.
 */
export const mention =
  /\b(?:prompts?|texts?|messages?|inputs?|attempts?|content|strings?|phrases?)\b[^.!?]{0,16}\b(?:that|which|to|asking|asks?|telling|tells?|trying|tries|like|such as|containing)\b|\b(?:detects?|flags?|blocks?|reports?|classif\w+|filters?|identif\w+|catch(?:es)?|analy[sz]e[sd]?|scans?|tests?|checks?|rejects?|evaluates?|screens?|monitors?)\b[^.!?]{0,60}\b(?:prompts?|injections?|attacks?|jailbreaks?|attempts?|whether|phrases?|instructions?|malicious|texts?|messages?)\b|\b(?:expected|sample|example|test|mock)\b[^.!?\n]{0,16}(?:output|response|input|payload|phrase|prompt|text|fixture)?s?\s*[:(]|\bfor (?:example|instance)\b|\bwhether\b|\billustrat\w+|\blegitimate\b|\bnot (?:an? )?(?:instructions?|commands?|payload)\b|\brather than an?\b|["'“‘`](?:please )?(?:ignore|disregard|forget|reveal|you are now)\b/i
