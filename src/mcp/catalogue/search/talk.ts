import { stem } from './stem.ts'
import { words } from './words.ts'

/**
 * Ways of speaking that ask for words and not for a deed: greetings, thanks, opinions, explanations, composing, sums that
 * need no tool. In each line a weight and then phrases; general English, written from knowledge of the language.
 */
const TALK: readonly (readonly [weight: number, phrases: string])[] = [
  [
    1,
    'hi|hello|hey there|good morning|good evening|good night|how are you|thanks|thank you|cheers|bye|goodbye|see you|nice to meet|' +
      'who are you|what are you|are you an ai|what can you do|your name|you are great|well done|sorry|never mind|sounds good|' +
      'got it|i see|that is all|happy birthday|good luck|congratulations|that makes sense|no worries|lol|haha',
  ],
  [
    1,
    'explain|explain the difference|difference between|what is the difference|what does it mean|what is meant|mean by|in simple terms|like i am|' +
      'how does|how do you|why is|why do|why does|why are|why did|why should|what is a|what is an|what are the advantages|pros and cons|' +
      'advantages|disadvantages|trade offs|tradeoffs|when should i|should i|is it better|which is better|better to|best way|best practices|what makes|how would you|' +
      'concept|concept of|theory|philosophy|meaning of|history of|capital of|who wrote|who invented|who was|who painted|what year|in what year|when did|when was|' +
      'how many legs|how long does it take|what causes|what happens when|what happens if|is it true|tell me about|define|definition of|synonym|opposite of|plural of|' +
      'stands for|stand for|example of|give me an example|teach me|what do you think|your opinion|do you think|do you like|do you believe|favourite|favorite',
  ],
  [
    1,
    'write a poem|write me a|write a short|haiku|limerick|poem|story about|short story|essay|joke|riddle|rhyme|lyrics|slogan|tagline|cover letter|' +
      'toast|speech for|birthday wish|rewrite|rephrase|reword|paraphrase|proofread|make this sound|more formal|more polite|sound more|shorten this|translate|in french|' +
      'in spanish|in german|in italian|into french|into spanish|into german|how do you say|say in|grammar|spell|correct this sentence|this sentence|this paragraph|' +
      'brainstorm|come up with|name for my|names for|ideas for|give me ideas|suggest a name|draft a|pretend|imagine|act as|role play|roleplay|you are a|play the role|let us play|' +
      'interview me|debate|simulate',
  ],
  [
    1,
    'advice|i feel|i am feeling|feel|feeling|nervous|stressed|motivate|how can i|how should i|how do i|what should i|tips|tips for|help me decide|can not sleep|' +
      'relationship|my boss|my friend|my partner|plus|minus|times|divided by|square root|percent of|percentage of|solve|derivative of|integral|multiply|convert|what is 15|' +
      'remember what i said|what did i|i said|you said|your last|last answer|previous answer|above|earlier you|again but|shorter|longer|in one sentence|bullet points|' +
      'summarize what|summarise what|we discussed|we talked|repeat that|go on|continue|try again',
  ],
]

/** What marks a thing that only a tool can reach: something of somebody, somewhere, now. */
const DEED =
  /(?:\b\w+[._/-]\w+\b|#\w+|@\w+|"[^"]+"|“[^”]+”|\b\d{3,}\b|\bmy (?:files?|repos?|calendar|inbox|page|account|database|cluster|wallet)\b|\bour\b|\b[A-Z][a-z]+(?:[A-Z]\w*)+\b)/g

const known = new Map<string, number>()
let longest = 1
for (const [weight, phrases] of TALK) {
  for (const phrase of phrases.split('|')) {
    const key = words(phrase).map(stem)
    longest = Math.max(longest, key.length)
    known.set(key.join(' '), weight * (key.length > 1 ? 1.3 : 1))
  }
}

/** Above 0 the more a request asks for words alone, below it the more it names things that only a tool can reach. -1.5 to 2.5. */
export function talkOf(request: string): number {
  const spelled = request
    .replace(/[’']s\b/g, ' is')
    .replace(/[’']m\b/g, ' am')
    .replace(/[’']re\b/g, ' are')
    .replace(/n[’']t\b/g, ' not')
    .replace(/[’']ve\b/g, ' have')
  const stems = words(spelled.slice(0, 1_000)).map(stem)
  let talk = 0
  for (let at = 0; at < stems.length; at++) {
    for (let length = Math.min(longest, stems.length - at); length > 0; length--) {
      const weight = known.get(stems.slice(at, at + length).join(' '))
      if (weight === undefined) continue
      talk += weight * (at === 0 ? 1.3 : 1)
      at += length - 1
      break
    }
  }
  const things = request.match(DEED)?.length ?? 0
  return Math.min(2.5, talk) - 0.5 * Math.min(3, things)
}
