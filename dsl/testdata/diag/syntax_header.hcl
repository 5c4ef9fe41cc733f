workflow "w"
{
}
