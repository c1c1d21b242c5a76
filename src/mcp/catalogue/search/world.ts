/** Words of business and of daily life; a line is read as in `concepts.ts`. */
export const world = `
news headline headlines article | press happening in_the_news latest_on
weather forecast temperature rain climate | umbrella sunny warm cold snow hot degrees wind outside
humidity wind pressure |
air_quality pollution aqi |
time clock timezone date | o'clock hour when
date day calendar | today tomorrow yesterday
timezone utc |
holiday vacation festival |
location place address geocode coordinates | where near
latitude longitude coordinates gps |
map maps geo |
route directions navigation | how_do_i_get drive way walk
distance travel_time | how_far
nearby near around | close_by
restaurant food dining | eat dinner lunch
recipe cook cooking meal ingredients | dish bake
nutrition calories diet |
drink cocktail beverage |
hotel accommodation lodging room | stay sleep
airbnb listing rental |
flight flights airline airport plane | fly
train railway rail station ticket |
bus transit transport subway metro |
car vehicle auto |
trip travel itinerary tour | holiday
stock share equity ticker quote | shares trading company
price cost quote | how_much worth expensive
market exchange trading |
crypto cryptocurrency bitcoin coin token btc eth ethereum |
wallet balance address |
blockchain chain onchain |
transaction transfer tx |
nft collectible |
gas fee fees |
swap trade exchange |
liquidity pool defi |
currency forex exchange_rate money rate | dollars euros pounds yen usd eur gbp
candle ohlc kline historical_price |
dividend earnings | payout
income revenue profit financial statement | earn made
balance_sheet cash_flow financials |
option options derivative |
bond treasury yield | interest
loan mortgage credit | borrow
insurance claim |
tax vat |
invoice bill billing | owe
payment charge pay | paid checkout
refund money_back | return
subscription plan |
customer client buyer |
lead prospect |
deal opportunity pipeline |
order purchase | bought buy
product item goods |
inventory stock warehouse | left
cart basket checkout |
shipment shipping delivery parcel tracking | package
coupon discount voucher promo |
store shop |
supplier vendor |
employee staff worker | hire
job vacancy position career | work hiring opening
resume cv candidate | applicant
salary wage pay |
company business corporation firm |
contract agreement |
law legal statute regulation | court
patent trademark | invention
campaign ad ads advertising marketing |
keyword seo ranking |
analytics traffic visitors |
survey poll questionnaire form | vote
social media post |
tweet twitter x |
video youtube channel |
reddit subreddit |
hashtag trend trending | popular hot
follower followers |
instagram facebook linkedin tiktok |
movie film cinema | watch
tv show series episode | season
actor cast | starring
song music track lyrics | tune
album artist band | singer
playlist queue |
play resume | put_on
pause stop | hold
volume loud | quieter
book author isbn novel | read
library catalog |
poem poetry quote |
game games gaming | play
player match score |
team league standings | table
sports football soccer basketball nba nfl |
fixture schedule match |
anime manga |
character hero |
card deck |
dice random roll |
random pick | choose any
joke humor fun | laugh
quiz trivia question |
fact facts |
paper research article publication preprint arxiv study | papers literature
citation reference bibliography bibtex | cite
author scholar researcher |
abstract summary |
journal |
clinical trial medical |
drug medicine medication | pill
disease condition diagnosis | illness
gene genome variant dna |
protein structure amino |
molecule compound chemical chemistry smiles |
health patient medical | doctor
fitness workout exercise | train gym
sleep heart_rate |
astronomy planet star space |
satellite orbit nasa |
earthquake seismic quake |
physics equation |
formula equation expression math |
matrix linear algebra |
derivative integral calculus |
statistics probability | odds chance
unit units measurement | miles kilometers
number integer |
prime factor |
dictionary definition meaning synonym word | mean
translate translation language | in_german in_french in_spanish into_english
language locale |
grammar spelling | typo
sentiment opinion tone |
entity extraction ner |
keyword extraction |
ocr text | read_the_text
qr qrcode barcode |
icon svg logo |
image edit resize crop |
background remove_background |
video edit trim cut |
3d model mesh |
design figma layout |
component ui widget |
color palette |
font typography |
whiteboard canvas drawing |
diagram mermaid flowchart uml |
note notes memo | jot
memory remember recall knowledge | forget
knowledge graph entity relation |
relation relationship link edge | connect connected
entity node |
observation fact |
thinking reasoning step thought |
prompt completion llm model | ai
agent assistant |
chatbot conversation |
dataset data huggingface |
train training model finetune |
prediction forecast predict |
course lesson class | learn
student teacher school university |
exam grade |
smart_home light device switch | lamp
thermostat heating temperature |
camera sensor |
print printer |
phone call dial | ring
sms text |
event ticket concert | gig
attendee guest |
venue place |
real_estate property house apartment listing | flat home
rent lease |
government public census |
election vote |
country state region | nation
city town |
population demographics | people
postal zip postcode |
language country |
airport code iata |
ship vessel |
energy electricity power |
water tide |
agriculture crop |
animal pet dog cat |
plant garden |
art museum painting artwork |
culture history |
religion bible quran verse |
horoscope zodiac astrology tarot |
name names |
uuid guid id identifier |
password generator |
limit quota usage | how_much_left
permission policy rule |
version release latest | newest
current now latest | right_now at_the_moment today
recent latest new | lately last
random sample | some
unread new |
private secret hidden |
public visible |
draft unpublished |
publish release | go_live
trash bin deleted |
favorite star bookmark | like
like upvote |
share link |
mention tag |
parent child children subpage | under inside below
root top |
relation join |
empty clear |
replace substitute |
split divide | break
append add | at_the_end
prepend top |
preview thumbnail |
thumbnail cover |
attachment file |
timeout deadline |
deadline due date | by_when
priority urgent | important
assignee owner |
estimate effort |
sprint iteration cycle |
epic story |
kanban board card column list |
timesheet hours tracking |
gather collect |
crawl sitemap |
proxy vpn |
ping latency | reach
traceroute hop |
bandwidth speed |
shell command terminal bash |
ssh remote |
cron schedule job | every_day nightly
queue job worker |
lambda function serverless |
cloud aws azure gcp |
cost billing spend |
alert incident oncall pager |
dashboard panel grafana |
trace span |
alarm alert |
backup restore |
migrate migration |
seed fixture |
mock fake dummy | placeholder
screenshot page |
accessibility a11y |
performance speed lighthouse | slow fast
cookie storage |
viewport screen window |
hover mouse |
keyboard key press |
drag drop |
element selector |
javascript script evaluate |
console log |
download file |
`
